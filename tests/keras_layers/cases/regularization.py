"""Layers that act in training, here in inference: what they do in training is random."""
from tensorflow.keras import layers


def case(name, kind, *arguments, shape=(3, 5), **options):
    return dict(name=name, layer=lambda: getattr(layers, kind)(*arguments, **options), inputs=[shape])


CASES = [
    case("dropout", "Dropout", 0.5),
    case("dropout_arguments", "Dropout", 0.25, noise_shape=(3, 1), seed=7),
    case("spatial_dropout1d", "SpatialDropout1D", 0.5, shape=(2, 3, 2)),
    case("spatial_dropout2d", "SpatialDropout2D", 0.25, shape=(2, 3, 2, 2)),
    case("spatial_dropout3d", "SpatialDropout3D", 0.5, shape=(1, 2, 3, 2, 2)),
    case("gaussian_noise", "GaussianNoise", 0.5),
    case("gaussian_noise_seed", "GaussianNoise", 0.5, seed=3),
    case("gaussian_dropout", "GaussianDropout", 0.5),
    case("alpha_dropout", "AlphaDropout", 0.5, seed=4),
    case("activity_regularization", "ActivityRegularization", 0.5, 0.25),
]
