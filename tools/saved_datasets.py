"""Datasets that tf.data saved, and those of Rill, both ways.

    saved_datasets.py <folder of test binaries> <goldens folder> [--update]

Theirs: TensorFlow saves datasets, and data_test reads them instead of those that are checked in;
--update checks them in. Ours: data_test saves, and TensorFlow loads.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
binaries, goldens = (os.path.abspath(p) for p in sys.argv[1:3])


def save_theirs(folder):
    data = tf.data.Dataset
    data.from_tensor_slices({"b": ["x", "", "zz"], "a": [0, 1, 2]}).save(folder + "/plain")
    data.range(5).save(folder + "/shards", compression="GZIP", shard_func=lambda x: x % 2)
    data.range(200).map(tf.strings.as_string).save(folder + "/packed", compression="SNAPPY")
    data.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], []])).save(folder + "/ragged")
    data.from_tensor_slices(tf.sparse.from_dense([[1, 0], [0, 2]])).save(folder + "/sparse")


def run(test, **environment):
    subprocess.run([os.path.join(binaries, "data_test"), "--gtest_brief=1", "--gtest_filter=" + test], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "RILL_SOURCE_DIR": ROOT, **environment})


def check(ok, what):
    if not ok:
        sys.exit("saved_datasets: " + what)


def read_ours(folder):
    load = tf.data.Dataset.load
    plain = list(load(folder + "/plain").as_numpy_iterator())
    check([e["b"] for e in plain] == [b"x", b"", b"zz"] and
          np.array_equal([e["a"] for e in plain], [[1, 2], [3, 4], [5, 6]]), "plain elements differ")
    check(load(folder + "/plain").cardinality() == 3, "the cardinality differs")
    shards = load(folder + "/shards", compression="GZIP")
    check(sorted(shards.as_numpy_iterator()) == list(range(5)), "elements of shards differ")
    packed = list(load(folder + "/packed", compression="SNAPPY").as_numpy_iterator())
    check(packed == [b"%d" % i for i in range(40000)], "elements packed by Snappy differ")
    check(next(iter(load(folder + "/ragged"))).to_list() == [[[1, 2], []], [[3]]], "a ragged tensor differs")
    check([r.numpy().tolist() for r in load(folder + "/rows")] == [[1, 2], [], [3]], "rows differ")
    check([tf.sparse.to_dense(s).numpy().tolist() for s in load(folder + "/sparse")] == [[1, 0], [0, 2], [0, 0]],
          "sparse tensors differ")


with tempfile.TemporaryDirectory() as scratch:
    theirs, ours = scratch + "/theirs", scratch + "/ours"
    save_theirs(theirs)
    run("SavedDataset.TensorFlowsAreRead", RILL_SAVED_DATASETS=theirs)
    if "--update" in sys.argv:
        shutil.rmtree(goldens, ignore_errors=True)
        shutil.copytree(theirs, goldens)
    run("SavedDataset.WrittenForTensorFlow", RILL_SAVE_DATASETS_TO=ours)
    read_ours(ours)
print("Saved datasets: 5 of TensorFlow's are read, 6 of Rill's are read by TensorFlow")
