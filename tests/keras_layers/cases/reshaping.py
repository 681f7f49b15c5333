"""Layers that move, repeat, cut off and put around."""
from tensorflow.keras import layers


def case(name, kind, *arguments, shape, **options):
    return dict(name=name, layer=lambda: getattr(layers, kind)(*arguments, **options), inputs=[shape])


LINE, IMAGE, VOLUME = (2, 5, 2), (2, 4, 5, 2), (1, 3, 4, 3, 2)
CASES = [
    case("permute", "Permute", (2, 1), shape=(2, 3, 4)),
    case("permute_three", "Permute", (3, 1, 2), shape=(2, 3, 4, 2)),
    case("repeat_vector", "RepeatVector", 3, shape=(2, 4)),
    case("cropping1d", "Cropping1D", shape=LINE),
    case("cropping1d_number", "Cropping1D", 2, shape=LINE),
    case("cropping1d_pair", "Cropping1D", (0, 2), shape=LINE),
    case("cropping2d", "Cropping2D", shape=IMAGE),
    case("cropping2d_number", "Cropping2D", 1, shape=IMAGE),
    case("cropping2d_axes", "Cropping2D", (1, 2), shape=IMAGE),
    case("cropping2d_sides", "Cropping2D", ((1, 0), (0, 2)), shape=IMAGE),
    case("cropping2d_channels_first", "Cropping2D", ((1, 0), (0, 2)), shape=(2, 2, 4, 5), data_format="channels_first"),
    case("cropping3d", "Cropping3D", shape=VOLUME),
    case("cropping3d_sides", "Cropping3D", ((1, 0), (0, 2), (1, 1)), shape=VOLUME),
    case("cropping3d_channels_first", "Cropping3D", (1, 1, 0), shape=(1, 2, 3, 4, 3), data_format="channels_first"),
    case("zero_padding1d", "ZeroPadding1D", shape=LINE),
    case("zero_padding1d_pair", "ZeroPadding1D", (1, 2), shape=LINE),
    case("zero_padding2d", "ZeroPadding2D", shape=IMAGE),
    case("zero_padding2d_number", "ZeroPadding2D", 2, shape=IMAGE),
    case("zero_padding2d_axes", "ZeroPadding2D", (0, 2), shape=IMAGE),
    case("zero_padding2d_sides", "ZeroPadding2D", ((1, 0), (0, 2)), shape=IMAGE),
    case("zero_padding2d_channels_first", "ZeroPadding2D", ((1, 0), (0, 2)), shape=(2, 2, 3, 2), data_format="channels_first"),
    case("zero_padding3d", "ZeroPadding3D", shape=(1, 2, 2, 2, 2)),
    case("zero_padding3d_sides", "ZeroPadding3D", ((1, 0), (0, 2), (1, 1)), shape=(1, 2, 2, 2, 2)),
    case("zero_padding3d_channels_first", "ZeroPadding3D", (1, 0, 1), shape=(1, 2, 2, 2, 2), data_format="channels_first"),
    case("up_sampling1d", "UpSampling1D", shape=LINE),
    case("up_sampling1d_3", "UpSampling1D", 3, shape=LINE),
    case("up_sampling2d", "UpSampling2D", shape=(2, 3, 2, 2)),
    case("up_sampling2d_axes", "UpSampling2D", (1, 3), shape=(2, 3, 2, 2)),
    case("up_sampling2d_channels_first", "UpSampling2D", (2, 3), shape=(2, 2, 3, 2), data_format="channels_first"),
    case("up_sampling2d_bilinear", "UpSampling2D", (2, 3), shape=(2, 3, 2, 2), interpolation="bilinear"),
    case("up_sampling2d_bilinear_channels_first", "UpSampling2D", 2, shape=(2, 2, 3, 2), data_format="channels_first", interpolation="bilinear"),
    case("up_sampling2d_bicubic", "UpSampling2D", 2, shape=(1, 3, 4, 2), interpolation="bicubic"),
    case("up_sampling2d_lanczos3", "UpSampling2D", 2, shape=(1, 3, 4, 2), interpolation="lanczos3"),
    case("up_sampling2d_gaussian", "UpSampling2D", 2, shape=(1, 3, 4, 2), interpolation="gaussian"),
    case("up_sampling2d_mitchellcubic", "UpSampling2D", 2, shape=(1, 3, 4, 2), interpolation="mitchellcubic"),
    case("up_sampling3d", "UpSampling3D", shape=(1, 2, 3, 2, 2)),
    case("up_sampling3d_axes", "UpSampling3D", (1, 2, 3), shape=(1, 2, 2, 2, 2)),
    case("up_sampling3d_channels_first", "UpSampling3D", (2, 1, 2), shape=(1, 2, 2, 2, 2), data_format="channels_first"),
]
