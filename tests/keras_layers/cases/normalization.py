"""Normalisation."""
import numpy as np
from tensorflow.keras import initializers, layers


def case(name, kind, shape, training=False, **options):
    case_options = {k: options.pop(k) for k in ("random_weights", "tolerance") if k in options}
    return dict(name=name, layer=lambda: getattr(layers, kind)(**options), inputs=[shape], training=training,
                **case_options)


def adapted(data, **options):
    layer = layers.Normalization(**options)
    layer.adapt(data)
    return layer


# Variances must not be negative, so the initializers and not the tool make the weights uneven.
UNEVEN = {name + "_initializer": initializers.RandomUniform(0.4, 1.8, seed=i)
          for i, name in enumerate(("gamma", "beta", "moving_mean", "moving_variance"))}

CASES = []
for training in (False, True):
    suffix = "_training" if training else ""
    for name, shape, options in (
            ("rank_2", (5, 3), {}),
            ("rank_3", (3, 4, 2), {}),
            ("rank_3_axis_1", (3, 4, 2), dict(axis=1)),
            ("rank_4", (2, 3, 3, 2), {}),
            ("rank_4_axis_2", (2, 3, 3, 2), dict(axis=2)),
            ("rank_5", (2, 2, 3, 2, 2), {}),
            ("rank_4_two_axes", (2, 3, 3, 2), dict(axis=[1, 3])),
            ("no_center", (2, 3, 3, 2), dict(center=False)),
            ("no_scale", (2, 3, 3, 2), dict(scale=False)),
            ("plain_no_center", (5, 3), dict(center=False)),
            ("plain_no_scale", (5, 3), dict(scale=False)),
            ("arguments", (5, 3), dict(momentum=0.6, epsilon=0.1, beta_initializer="ones", gamma_initializer="zeros",
                                       beta_regularizer="l2", gamma_regularizer="l1", gamma_constraint="non_neg")),
            ("images_momentum", (2, 3, 3, 2), dict(momentum=0.6, epsilon=0.01)),
    ):
        CASES.append(case("batch_" + name + suffix, "BatchNormalization", shape, training,
                          random_weights=False, tolerance=3e-5, **dict(UNEVEN, **options)))
CASES.append(case("batch_not_trainable", "BatchNormalization", (5, 3), True, trainable=False, random_weights=False))
CASES.append(case("batch_images_not_trainable", "BatchNormalization", (2, 3, 3, 2), True, trainable=False, random_weights=False))
CASES += [
    case("layer", "LayerNormalization", (3, 5)),
    case("layer_rank_3", "LayerNormalization", (2, 3, 4)),
    case("layer_two_axes", "LayerNormalization", (2, 3, 4), axis=[1, 2]),
    case("layer_axis_1", "LayerNormalization", (2, 3, 4), axis=1),
    case("layer_axes_apart", "LayerNormalization", (2, 3, 2, 2), axis=[1, 3]),
    case("layer_no_center", "LayerNormalization", (3, 5), center=False, epsilon=0.1),
    case("layer_no_scale", "LayerNormalization", (3, 5), scale=False),
    case("layer_axis_1_no_scale", "LayerNormalization", (2, 3, 4), axis=1, scale=False),
    case("layer_small_epsilon", "LayerNormalization", (3, 5), epsilon=1e-6),
    case("layer_arguments", "LayerNormalization", (3, 5), beta_regularizer="l2", gamma_constraint="non_neg", gamma_regularizer="l1"),
    case("group", "GroupNormalization", (2, 3, 4), groups=2),
    case("group_images", "GroupNormalization", (2, 3, 2, 6), groups=3, epsilon=0.01),
    case("group_axis_1", "GroupNormalization", (2, 4, 3, 2), groups=2, axis=1),
    case("group_each", "GroupNormalization", (2, 3, 4), groups=-1),
    case("group_one", "GroupNormalization", (2, 3, 4), groups=1, center=False),
    case("group_no_scale", "GroupNormalization", (2, 3, 4), groups=2, scale=False),
    case("unit", "UnitNormalization", (3, 4)),
    case("unit_axis_1", "UnitNormalization", (2, 3, 4), axis=1),
    case("unit_axes", "UnitNormalization", (2, 3, 4), axis=[1, 2]),
    case("normalization_fresh", "Normalization", (3, 4), random_weights=False),
    case("normalization_number", "Normalization", (3, 4), mean=3.0, variance=2.0),
    case("normalization_lists", "Normalization", (3, 2), mean=[3.0, 1.0], variance=[2.0, 0.5]),
    case("normalization_invert", "Normalization", (3, 2), mean=[3.0, 1.0], variance=[2.0, 0.5], invert=True),
    case("normalization_no_axis", "Normalization", (3, 2), axis=None, mean=1.0, variance=4.0),
    case("rescaling", "Rescaling", (3, 2), scale=0.5, offset=-1.0),
    dict(name="rescaling_whole", layer=lambda: layers.Rescaling(1.0 / 255), inputs=[np.arange(6, dtype=np.uint8).reshape(2, 3) * 50]),
]
DATA = (np.arange(24, dtype=np.float32).reshape(2, 3, 4) * 7) % 11
for name, axis in (("last", -1), ("none", None), ("two", (1, 2))):
    CASES.append(dict(name="normalization_adapted_" + name, layer=lambda axis=axis: adapted(DATA, axis=axis),
                      inputs=[(2, 3, 4)], random_weights=False))
CASES += [
    dict(name="spectral_dense", layer=lambda: layers.SpectralNormalization(layers.Dense(3)), inputs=[(2, 4)]),
    dict(name="spectral_dense_training", layer=lambda: layers.SpectralNormalization(layers.Dense(3, activation="tanh"), power_iterations=3),
         inputs=[(2, 4)], training=True),
    dict(name="spectral_conv_training", layer=lambda: layers.SpectralNormalization(layers.Conv2D(2, 2)), inputs=[(1, 3, 3, 2)], training=True),
]
