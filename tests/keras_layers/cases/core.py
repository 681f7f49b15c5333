"""Layers of the core."""
import tensorflow as tf
from tensorflow.keras import layers

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
]
