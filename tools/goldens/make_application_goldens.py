"""Writes rill/keras/applications/testdata: what Keras's applications are made of.

    make_application_goldens.py FOLDER

FOLDER/CASE.txt has a line "model NAME PARAMS TRAINABLE_PARAMS", then a line for each layer: name,
class and the shapes of its weights ("3x3x3x32"). FOLDER/results.txt has for each of RESULTS what
the model says of a fixed input with weights by a formula, which applications_test.cc repeats.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy as np
import tensorflow as tf

A = tf.keras.applications
CASES = {
    "mobilenet_v2": lambda: A.MobileNetV2(weights=None),
    "mobilenet_v2_half": lambda: A.MobileNetV2(
        weights=None, input_shape=(97, 65, 1), alpha=0.5, classes=5),
    "mobilenet_v2_wide": lambda: A.MobileNetV2(
        weights=None, alpha=1.4, include_top=False, pooling="max"),
    "resnet50": lambda: A.ResNet50(weights=None),
    "resnet50_no_top": lambda: A.ResNet50(weights=None, include_top=False, pooling="avg"),
    "vgg16": lambda: A.VGG16(weights=None, input_shape=(32, 32, 3)),
    "vgg16_no_top": lambda: A.VGG16(weights=None, include_top=False, pooling="avg"),
    "vgg19_no_top": lambda: A.VGG19(weights=None, include_top=False),
}
# With the mean of gamma: smaller where the sums of blocks grow.
RESULTS = {
    "mobilenet_v2": (1, lambda: A.MobileNetV2(
        weights=None, input_shape=(32, 32, 3), alpha=0.35, classes=10, classifier_activation=None)),
    "mobilenet_v2_odd": (1, lambda: A.MobileNetV2(
        weights=None, input_shape=(37, 50, 3), alpha=0.35, include_top=False, pooling="avg")),
    "resnet50": (0.75, lambda: A.ResNet50(
        weights=None, input_shape=(32, 32, 3), classes=10, classifier_activation=None)),
    "vgg16": (1, lambda: A.VGG16(
        weights=None, input_shape=(32, 32, 3), include_top=False, pooling="max")),
}


def scattered(shape, start):
    """Scattered numbers from -1 to 1 by their place alone."""
    h = np.arange(start, start + int(np.prod(shape)), dtype=np.uint32) * np.uint32(2654435761)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(2246822519)
    h ^= h >> np.uint32(13)
    return (h / 2147483648.0 - 1).reshape(shape)


def formula(name, shape, start, gamma):
    """Kernels that keep the size of what passes; means, sizes and biases near their usual ones."""
    values = scattered(shape, start)
    if "depthwise_kernel" in name:
        values = values * np.sqrt(6.0 / (shape[0] * shape[1]))
    elif "kernel" in name:
        values = values * np.sqrt(6.0 / np.prod(shape[:-1]))
    elif "gamma" in name:
        values = gamma + 0.25 * values
    elif "variance" in name:
        values = 1 + 0.25 * values
    else:
        values = 0.25 * values
    return values.astype(np.float32)


def result(model, gamma):
    index = 0
    for w in model.weights:
        w.assign(formula(w.name, tuple(w.shape), index, gamma))
        index += int(np.prod(w.shape))
    x = scattered((2,) + model.input_shape[1:], 0).astype(np.float32)
    return model(x, training=False).numpy()[:, :16].ravel()


def count(weights):
    return sum(int(np.prod(w.shape)) for w in weights)


def main(folder):
    for case, make in CASES.items():
        tf.keras.backend.clear_session()
        model = make()
        with open(os.path.join(folder, case + ".txt"), "w") as out:
            print("model", model.name, count(model.weights), count(model.trainable_weights), file=out)
            for layer in model.layers:
                shapes = ["x".join(map(str, w.shape)) for w in layer.weights]
                print(layer.name, type(layer).__name__, *shapes, file=out)
    with open(os.path.join(folder, "results.txt"), "w") as out:
        for case, (gamma, make) in RESULTS.items():
            tf.keras.backend.clear_session()
            print(case, *("%.7g" % v for v in result(make(), gamma)), file=out)


main(sys.argv[1])
