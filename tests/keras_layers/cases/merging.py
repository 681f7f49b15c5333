"""Layers of several inputs."""
from tensorflow.keras import layers


def case(name, kind, *shapes, **options):
    return dict(name=name, layer=lambda: getattr(layers, kind)(**options), inputs=list(shapes), list=True)


CASES = []
for kind in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"):
    CASES += [
        case(kind, kind, (2, 3), (2, 3)),
        case(kind + "_broadcast", kind, (2, 3, 4), (2, 1, 4)),
        case(kind + "_ranks", kind, (2, 3, 4), (2, 4)),
    ]
    if kind != "Subtract":
        CASES += [case(kind + "_three", kind, (2, 3), (2, 3), (2, 3)), case(kind + "_one", kind, (2, 3))]
CASES += [
    case("concatenate", "Concatenate", (2, 3), (2, 4)),
    case("concatenate_axis_1", "Concatenate", (2, 3, 2), (2, 1, 2), (2, 2, 2), axis=1),
    case("concatenate_axis_0", "Concatenate", (2, 3), (1, 3), axis=0),
    case("dot", "Dot", (3, 4), (3, 4), axes=1),
    case("dot_last", "Dot", (2, 3, 4), (2, 5, 4), axes=-1),
    case("dot_matrices", "Dot", (2, 3, 4), (2, 4, 2), axes=(2, 1)),
    case("dot_axis_1", "Dot", (2, 3, 4), (2, 3, 2), axes=1),
    case("dot_vector", "Dot", (2, 3, 4), (2, 4), axes=(2, 1)),
    case("dot_vector_first", "Dot", (2, 4), (2, 3, 4), axes=(1, 2)),
    case("dot_rank_4", "Dot", (2, 3, 2, 4), (2, 4, 3), axes=(3, 1)),
    case("dot_normalize", "Dot", (2, 3, 4), (2, 4, 2), axes=(2, 1), normalize=True),
    case("dot_cosine", "Dot", (3, 4), (3, 4), axes=-1, normalize=True),
]
