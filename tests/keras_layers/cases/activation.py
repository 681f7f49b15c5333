"""Activations as layers."""
from tensorflow.keras import layers


def case(name, kind, *arguments, shape=(3, 5), **options):
    return dict(name=name, layer=lambda: getattr(layers, kind)(*arguments, **options), inputs=[shape])


CASES = [
    case("softmax", "Softmax"),
    case("softmax_axis_1", "Softmax", 1, shape=(2, 3, 4)),
    case("softmax_two_axes", "Softmax", shape=(2, 3, 4), axis=[1, 2]),
    case("relu", "ReLU"),
    case("relu_6", "ReLU", 6.0),
    case("relu_max", "ReLU", 0.5),
    case("relu_slope", "ReLU", negative_slope=0.25),
    case("relu_threshold", "ReLU", threshold=0.25),
    case("relu_all", "ReLU", 0.75, 0.1, 0.25),
    case("relu_max_slope", "ReLU", 0.5, 0.5),
    case("leaky_relu", "LeakyReLU"),
    case("leaky_relu_alpha", "LeakyReLU", 0.1),
    case("prelu", "PReLU"),
    case("prelu_shared", "PReLU", shape=(2, 3, 2, 2), shared_axes=[1, 2]),
    case("prelu_arguments", "PReLU", alpha_initializer="ones", alpha_regularizer="l2", alpha_constraint="non_neg"),
    case("elu", "ELU"),
    case("elu_alpha", "ELU", 0.5),
    case("thresholded_relu", "ThresholdedReLU"),
    case("thresholded_relu_theta", "ThresholdedReLU", 0.3),
]
