"""Writes the checkpoints of this folder by TensorFlow 2.15.1.

    make_checkpoints.py [folder]
"""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
TYPES = ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
         "uint16", "uint32", "uint64", "bool", "complex64", "complex128"]


def path(name):
    return os.path.join(FOLDER, name)


def save_tensors(name, tensors, slices=None):
    tf.raw_ops.SaveV2(prefix=path(name), tensor_names=[n for n, _ in tensors],
                      shape_and_slices=slices or [""] * len(tensors), tensors=[t for _, t in tensors])


def every_type():
    numbers = [("t/" + t, tf.cast(tf.constant([[0, 1, 2], [3, 5, 7]]), t)) for t in TYPES]
    text = [("t/string", tf.constant([["", "a"], ["b\0c", "\u00fc" * 200]])),
            ("t/no_strings", tf.constant([], tf.string)), ("t/empty", tf.zeros([0, 4])),
            ("t/scalar", tf.constant(2.5))]
    save_tensors("every_type", numbers + text)


def sliced():
    """A variable of [5, 3] in parts by rows, one of [2, 4] by columns, one of strings."""
    w = tf.reshape(tf.range(15.0), [5, 3])
    c = tf.reshape(tf.range(8, dtype=tf.int64), [2, 4])
    s = tf.constant(["p", "q", "r"])
    save_tensors("sliced", [("w", w[:2]), ("w", w[2:]), ("c", c[:, :3]), ("c", c[:, 3:]), ("s", s[:1]), ("s", s[1:])],
                 ["5 3 0,2:-", "5 3 2,3:-", "2 4 -:0,3", "2 4 -:3,1", "3 0,1", "3 1,2"])


def many():
    """More than one block of the index, and keys that share prefixes."""
    save_tensors("many", [("layer_%04d/%s" % (i, "k" * 200), tf.constant(float(i))) for i in range(1500)])


def nested():
    """Objects of several kinds, one of them reached by two ways, and names to be escaped."""
    w, b = tf.Variable([[1.0, 2.0]], name="w"), tf.Variable(3, name="b", dtype=tf.int64)
    inner = tf.train.Checkpoint(**{"w": w, "a/b.c": b})
    tf.train.Checkpoint(x=tf.Variable(2.0, name="x"), inner=inner, list=[w, b], again=w).save(path("nested"))


def tables():
    grows = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    grows.insert(["a", "b"], tf.constant([1, 2], tf.int64))
    dense = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "$", initial_num_buckets=8)
    dense.insert(["a", "b", "c"], tf.constant([1, 2, 3], tf.int64))
    fixed = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    tf.train.Checkpoint(grows=grows, dense=dense, fixed=fixed).write(path("tables"))


def optimizer_cases():
    k, v1 = tf.keras.optimizers, tf.compat.v1.train
    return {
        "adam": k.Adam(0.01), "adam_amsgrad": k.Adam(0.01, amsgrad=True), "sgd": k.SGD(0.1),
        "sgd_momentum": k.SGD(0.1, momentum=0.9), "rmsprop": k.RMSprop(0.01),
        "rmsprop_centered": k.RMSprop(0.01, momentum=0.9, centered=True), "adagrad": k.Adagrad(0.1),
        "adadelta": k.Adadelta(0.1), "adamax": k.Adamax(0.01), "nadam": k.Nadam(0.01), "ftrl": k.Ftrl(0.1),
        "v1_adam": v1.AdamOptimizer(0.01), "v1_momentum": v1.MomentumOptimizer(0.1, 0.9),
        "v1_rmsprop": v1.RMSPropOptimizer(0.01, centered=True), "v1_adagrad": v1.AdagradOptimizer(0.1),
        "v1_adadelta": v1.AdadeltaOptimizer(0.1), "v1_ftrl": v1.FtrlOptimizer(0.1),
        "v1_descent": v1.GradientDescentOptimizer(0.1),
    }


def gradients(step):
    """Of a [2, 2] and a [2] variable; the same in tests/checkpoints/training.h."""
    return [tf.constant([[0.5, -1.0], [0.25, 2.0]]) * (step + 1), tf.constant([1.0, -0.5]) / (step + 1)]


def optimizers():
    """Three steps, a checkpoint, two steps more: <name>-1 and what the variables are then."""
    lines = []
    for name, optimizer in optimizer_cases().items():
        w, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w"), tf.Variable([0.5, -0.5], name="b")
        checkpoint = tf.train.Checkpoint(w=w, b=b, optimizer=optimizer)
        for step in range(5):
            if step == 3:
                checkpoint.save(path("optimizers/" + name))
            optimizer.apply_gradients(zip(gradients(step), [w, b]))
        values = np.concatenate([w.numpy().reshape(-1), b.numpy()])
        lines.append(name + " " + " ".join(repr(float(x)) for x in values))
    with open(path("optimizers/after.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")


def clean():
    for folder in (FOLDER, path("optimizers")):
        state = os.path.join(folder, "checkpoint")
        if os.path.exists(state):
            os.remove(state)


def main():
    os.makedirs(path("optimizers"), exist_ok=True)
    every_type()
    sliced()
    many()
    nested()
    tables()
    optimizers()
    clean()


if __name__ == "__main__":
    main()
