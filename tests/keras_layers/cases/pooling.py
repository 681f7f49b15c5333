"""Pooling. With channels first Keras needs a GPU but for the global ones: see the unit test."""
import numpy as np
from tensorflow.keras import layers


def case(name, kind, *arguments, shape, **options):
    return dict(name=name, layer=lambda: getattr(layers, kind)(*arguments, **options), inputs=[shape])


SHAPES = {1: (2, 7, 3), 2: (2, 5, 6, 2), 3: (1, 4, 5, 4, 2)}

CASES = []
for kind in ("MaxPooling", "AveragePooling"):
    for axes, shape in SHAPES.items():
        layer = "%s%dD" % (kind, axes)
        CASES += [
            case(layer, layer, shape=shape),
            case(layer + "_same", layer, 3, 2, "same", shape=shape),
            case(layer + "_stride_1", layer, 2, 1, shape=shape),
            case(layer + "_valid_larger", layer, 3, shape=shape, strides=2),
        ]
    CASES.append(case(kind + "2D_lists", kind + "2D", (3, 2), (1, 2), "same", shape=SHAPES[2]))
    CASES.append(case(kind + "3D_lists", kind + "3D", (1, 2, 3), (2, 1, 1), shape=SHAPES[3]))
for kind in ("GlobalMaxPooling", "GlobalAveragePooling"):
    for axes, shape in SHAPES.items():
        layer = "%s%dD" % (kind, axes)
        CASES += [
            case(layer, layer, shape=shape),
            case(layer + "_keepdims", layer, keepdims=True, shape=shape),
            case(layer + "_channels_first", layer, data_format="channels_first", shape=shape),
            case(layer + "_channels_first_keepdims", layer, data_format="channels_first", keepdims=True, shape=shape),
        ]
CASES.append(dict(name="GlobalAveragePooling1D_float64", inputs=[np.arange(12, dtype=np.float64).reshape(2, 3, 2)],
                  layer=lambda: layers.GlobalAveragePooling1D(dtype="float64")))
