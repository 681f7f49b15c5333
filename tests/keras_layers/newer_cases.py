"""Layers and activations of Keras 3 that Keras 2 does not have."""
import keras
import numpy as np
from keras import layers

ACTIVATIONS = ("celu", "glu", "hard_shrink", "hard_silu", "hard_swish", "hard_tanh", "log_sigmoid", "soft_shrink",
               "sparse_plus", "sparse_sigmoid", "sparsemax", "squareplus", "tanh_shrink")
# Both sides of every edge, and not the edges themselves, where gradients may be either.
EDGES = np.array([[-4, -3.1, -2.9, -1.1, -0.9, -0.51], [-0.49, -0.1, 0.1, 0.49, 0.51, 0.9],
                  [1.1, 2, 2.9, 3.1, 4, 8]], np.float32)


def case(name, layer, *shapes, **more):
    return dict(name=name, layer=layer, inputs=list(shapes), **more)


def adapted(layer, shape, rank, **more):
    """Keras 3's constructors of Dense and Embedding forget lora_alpha."""
    layer.build(shape)
    layer.enable_lora(rank, **more)
    return layer


WORDS = np.array([[3, 0, 6], [3, 1, 5]], np.int32)

CASES = [case(name, lambda name=name: layers.Activation(name), EDGES) for name in ACTIVATIONS] + [
    case("dense_hard_silu", lambda: layers.Dense(3, activation="hard_silu"), (4, 5)),
    case("rms", lambda: layers.RMSNormalization(), (3, 5)),
    case("rms_axes", lambda: layers.RMSNormalization(axis=[1, 2], epsilon=1e-3), (2, 3, 4)),
    case("layer_rms_scaling", lambda: layers.LayerNormalization(rms_scaling=True), (3, 5)),
    case("layer_rms_scaling_axis", lambda: layers.LayerNormalization(axis=1, rms_scaling=True, epsilon=1e-2), (2, 3, 4)),
    case("group_query", lambda: layers.GroupQueryAttention(3, 4, 2), (2, 5, 4), (2, 3, 4), spread=True),
    case("group_query_key", lambda: layers.GroupQueryAttention(2, 2, 2, use_bias=False), (2, 5, 4), (2, 3, 4), (2, 3, 6),
         spread=True),
    case("group_query_causal", lambda: layers.GroupQueryAttention(2, 4, 1, use_gate=True), (2, 4, 3), (2, 4, 3),
         spread=True, call={"use_causal_mask": True}),
    case("group_query_window", lambda: layers.GroupQueryAttention(2, 4, 2, sliding_window=2), (2, 5, 3), (2, 5, 3),
         spread=True, call={"return_attention_scores": True}),
    case("custom_scale", lambda: __import__("keras.src.applications.inception_resnet_v2", fromlist=["x"])
         .CustomScaleLayer(0.3), (2, 3), (2, 3)),
    case("dense_lora", lambda: layers.Dense(3, lora_rank=2), (4, 5)),
    case("dense_lora_alpha", lambda: adapted(layers.Dense(3, activation="tanh"), (None, 5), 2, lora_alpha=0.5), (4, 5)),
    case("dense_lora_axes", lambda: adapted(layers.Dense(3, use_bias=False), (None, 4, 5), 1, lora_alpha=3), (2, 4, 5)),
    case("einsum_lora", lambda: layers.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de", lora_rank=2, lora_alpha=4),
         (2, 3, 5)),
    case("einsum_lora_dots", lambda: layers.EinsumDense("...x,xy->...y", (4,), lora_rank=2), (2, 3, 5)),
    case("embedding_lora", lambda: adapted(layers.Embedding(7, 3), (None, 3), 2, lora_alpha=3), WORDS),
    case("layer_scale", lambda: __import__("keras.src.applications.convnext", fromlist=["x"]).LayerScale(0.5, 4), (3, 4)),
]
