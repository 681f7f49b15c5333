"""Layers of the core."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

MASKED = np.array([[[1, 2], [0, 0], [0, 3]], [[2, 2], [4, 5], [0, 0]]], np.float32)

CASES = [
    dict(name="dense", layer=lambda: layers.Dense(4), inputs=[(3, 5)]),
    dict(name="dense_relu_no_bias", layer=lambda: layers.Dense(4, activation="relu", use_bias=False), inputs=[(3, 5)]),
    dict(name="dense_softmax", layer=lambda: layers.Dense(4, activation="softmax"), inputs=[(3, 5)]),
    dict(name="dense_rank_3", layer=lambda: layers.Dense(4, activation="tanh"), inputs=[(2, 3, 5)]),
    dict(name="activation_gelu", layer=lambda: layers.Activation("gelu"), inputs=[(3, 5)]),
    dict(name="activation_swish", layer=lambda: layers.Activation("swish"), inputs=[(3, 5)]),
    dict(name="activation_hard_sigmoid", layer=lambda: layers.Activation("hard_sigmoid"), inputs=[(3, 5)]),
    dict(name="activation_mish", layer=lambda: layers.Activation("mish"), inputs=[(3, 5)]),
    dict(name="flatten", layer=lambda: layers.Flatten(), inputs=[(2, 3, 4)]),
    dict(name="flatten_channels_first", layer=lambda: layers.Flatten(data_format="channels_first"), inputs=[(2, 3, 4, 2)]),
    dict(name="reshape", layer=lambda: layers.Reshape((6, -1)), inputs=[(2, 3, 4)]),
    dict(name="dropout_inference", layer=lambda: layers.Dropout(0.5), inputs=[(2, 6)]),
    dict(name="embedding", layer=lambda: layers.Embedding(7, 3), inputs=[np.array([[1, 0, 6], [6, 2, 6]], np.int32)]),
    dict(name="embedding_options", layer=lambda: layers.Embedding(7, 3, mask_zero=True, input_length=4, embeddings_regularizer="l2"),
         inputs=[np.array([[1, 0, 6, 0], [6, 2, 6, 5]], np.int64)]),
    dict(name="embedding_of_floats", layer=lambda: layers.Embedding(7, 3), inputs=[np.array([[1, 0, 6]], np.float32)]),
    dict(name="masking", layer=lambda: layers.Masking(), inputs=[MASKED]),
    dict(name="masking_value", layer=lambda: layers.Masking(mask_value=2.0), inputs=[MASKED]),
    dict(name="einsum_dense", layer=lambda: layers.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d"), inputs=[(2, 3, 4)]),
    dict(name="einsum_dense_flat", layer=lambda: layers.EinsumDense("ab,bc->ac", output_shape=5, activation="relu"), inputs=[(2, 3)]),
    dict(name="einsum_dense_heads", layer=lambda: layers.EinsumDense("abc,cde->abde", output_shape=(None, 2, 3), bias_axes="de"), inputs=[(2, 3, 4)]),
    dict(name="einsum_dense_dots", layer=lambda: layers.EinsumDense("...x,xy->...y", output_shape=4, bias_axes="y"), inputs=[(2, 3, 2, 5)]),
    dict(name="einsum_dense_dots_behind", layer=lambda: layers.EinsumDense("ab...,bc->ac...", output_shape=4, bias_axes="c"), inputs=[(2, 3, 2)]),
    dict(name="einsum_dense_inner_bias", layer=lambda: layers.EinsumDense("abc,cd->abd", output_shape=(3, 5), bias_axes="b"), inputs=[(2, 3, 4)]),
]
