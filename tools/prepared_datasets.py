"""A small dataset as tensorflow_datasets prepares it, for the tests of datasets::load.

    prepared_datasets.py <folder>

Writes <folder>/tiny/1.0.0. It needs tensorflow-datasets, which no other tool does: install it with
TensorFlow in an environment of its own.
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow_datasets as tfds


class Tiny(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        features = tfds.features
        return tfds.core.DatasetInfo(
            builder=self,
            description="Small.",
            features=features.FeaturesDict({
                "image": features.Image(shape=(None, None, 3)),
                "label": features.ClassLabel(names=["cat", "dog"]),
                "text": features.Text(),
                "scalar": features.Scalar(np.float32),
                "box": features.Tensor(shape=(2, 2), dtype=np.int64),
                "flag": features.Scalar(np.bool_),
                "words": features.Sequence(features.Text()),
                "objects": features.Sequence({
                    "bbox": features.BBoxFeature(),
                    "kind": features.ClassLabel(num_classes=3),
                }),
                "nested": {"x": features.Tensor(shape=(None,), dtype=np.int32), "y": np.uint8},
                "deep": features.Sequence(features.Sequence(np.int64)),
            }),
            supervised_keys=("text", "label"),
            citation="none",
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(10, 0), "test": self._generate_examples(4, 100)}

    def _generate_examples(self, count, first):
        for i in range(count):
            yield i, {
                "image": np.full((2 + i % 2, 3, 3), i + first, np.uint8),
                "label": i % 2,
                "text": f"t{i + first}",
                "scalar": i / 2,
                "box": [[i, 1], [2, 3]],
                "flag": i % 2 == 0,
                "words": ["w"] * (i % 3),
                "objects": [{"bbox": features_box(j), "kind": j} for j in range(i % 3)],
                "nested": {"x": np.arange(i % 4, dtype=np.int32), "y": i},
                "deep": [list(range(j)) for j in range(i % 4)],
            }


def features_box(j):
    return tfds.features.BBox(0.0, 0.25 * j, 0.5, 1.0)


if __name__ == "__main__":
    Tiny(data_dir=sys.argv[1]).download_and_prepare(download_config=tfds.download.DownloadConfig(num_shards=3))
