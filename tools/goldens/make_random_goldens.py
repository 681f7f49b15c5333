#!/usr/bin/env python3
"""Writes rill/kernels/functors/testdata/random.txt: TensorFlow's random values for given seeds.

Needs tensorflow 2.15. A case is two lines and a blank:

  case NAME DTYPE SOURCE SIZE ARGS...
      SOURCE   seed:S0:S1, stateless; state:S0:S1, the attributes seed and seed2 of a stateful
               operation at its first call; key:K:C0:C1, key and counter of the V2 operations
      ARGS     uniform_int: lo hi; categorical: classes, then the logits as hex bits
  values V...  integers in decimal, floats as the hex of their bits
    or: picks I:V...  some elements of many
    or: hash H        64-bit FNV-1a, in hex, over the bytes of the elements
"""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

raw = tf.raw_ops
SEEDS = [(0, 0), (1, 2), (-1, 7), (2**31 - 1, -(2**31)), (12345, 67890)]
WIDE_SEEDS = [(2**40 + 3, -(2**50)), (-(2**63), 2**63 - 1)]
SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 40]
LARGE = 100003
lines = []


def seed_tensor(s):
    wide = any(not -(2**31) <= x < 2**31 for x in s)
    return tf.constant(s, tf.int64 if wide else tf.int32)


def spell(a):
    a = np.asarray(a).reshape(-1)
    if a.dtype.kind in "iu":
        return [str(int(v)) for v in a]
    return [f"{int(v):x}" for v in a.view(f"u{a.dtype.itemsize}")]


def fnv(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = ((h ^ b) * 0x100000001B3) & (2**64 - 1)
    return h


def add(name, dtype, source, tensor, args=(), form="values"):
    a = tensor.numpy() if hasattr(tensor, "numpy") else np.asarray(tensor)
    head = ["case", name, dtype, source, a.size, *args]
    lines.append(" ".join(map(str, head)))
    words = spell(a)
    if form == "hash":
        lines.append(f"hash {fnv(a.tobytes()):x}")
    elif form == "picks":
        at = [*range(0, 8), *range(4099, a.size, 5003), a.size - 2, a.size - 1]
        lines.append("picks " + " ".join(f"{i}:{words[i]}" for i in at))
    else:
        lines.append("values " + " ".join(words))
    lines.append("")


def draw(name, dtype, size, seed, args=()):
    if name == "uniform":
        return tf.random.stateless_uniform([size], seed, dtype=dtype)
    if name == "normal":
        return tf.random.stateless_normal([size], seed, dtype=dtype)
    if name == "truncated_normal":
        return tf.random.stateless_truncated_normal([size], seed, dtype=dtype)
    if name == "uniform_int":
        return tf.random.stateless_uniform([size], seed, args[0], args[1], dtype=dtype)
    return tf.random.stateless_uniform([size], seed, None, None, dtype=dtype)


def stateless():
    for s in SEEDS + WIDE_SEEDS:
        key, counter = raw.StatelessRandomGetKeyCounter(seed=seed_tensor(s))
        add("key_counter", "uint64", "seed:%d:%d" % s, np.concatenate([key, counter]))
    kinds = [(n, t, ()) for n in ("uniform", "normal", "truncated_normal")
             for t in ("float16", "bfloat16", "float32", "float64")]
    kinds += [("bits", t, ()) for t in ("uint32", "uint64")]
    kinds += [("uniform_int", "int32", a) for a in ((0, 10), (-7, 93), (-(2**31), 2**31 - 1))]
    kinds += [("uniform_int", "int64", a) for a in ((0, 10), (-(2**40), 3), (-(2**63), 2**63 - 1))]
    for k, (name, dtype, args) in enumerate(kinds):
        for i, size in enumerate(SIZES):
            s = SEEDS[(i + k) % len(SEEDS)]
            add(name, dtype, "seed:%d:%d" % s, draw(name, dtype, size, seed_tensor(s), args), args)
        s = WIDE_SEEDS[k % 2]
        form = "picks" if "normal" in name else "hash"
        add(name, dtype, "seed:%d:%d" % s, draw(name, dtype, LARGE, seed_tensor(s), args), args,
            form)
    # The first form of the operations, which takes the seed itself.
    seed = tf.constant([3, 4])
    for op, name in ((raw.StatelessRandomUniform, "uniform"),
                     (raw.StatelessRandomNormal, "normal"),
                     (raw.StatelessTruncatedNormal, "truncated_normal")):
        add(name, "float32", "seed:3:4", op(shape=[9], seed=seed, dtype=tf.float32))
    add("uniform_int", "int64", "seed:3:4",
        raw.StatelessRandomUniformInt(shape=[9], seed=seed, minval=tf.constant(-5, tf.int64),
                                      maxval=tf.constant(50, tf.int64)), (-5, 50))
    add("bits", "uint32", "seed:3:4",
        raw.StatelessRandomUniformFullInt(shape=[9], seed=tf.constant([3, 4]), dtype=tf.uint32))


def v2():
    for key, c0, c1 in ((1, 2, 3), (2**64 - 1, 2**64 - 2, 2**64 - 1), (5, 2**32 - 1, 0)):
        kw = dict(shape=[21], key=tf.constant([key], tf.uint64),
                  counter=tf.constant([c0, c1], tf.uint64), alg=1)
        source = f"key:{key}:{c0}:{c1}"
        add("uniform", "float32", source, raw.StatelessRandomUniformV2(dtype=tf.float32, **kw))
        add("normal", "float64", source, raw.StatelessRandomNormalV2(dtype=tf.float64, **kw))
        add("truncated_normal", "float32", source,
            raw.StatelessTruncatedNormalV2(dtype=tf.float32, **kw))
        add("bits", "uint64", source,
            raw.StatelessRandomUniformFullIntV2(dtype=tf.uint64, **kw))
        add("uniform_int", "int32", source,
            raw.StatelessRandomUniformIntV2(minval=-3, maxval=1000, **kw), (-3, 1000))


def stateful():
    kw = dict(shape=[11], dtype=tf.float32, seed=87654321, seed2=5)
    add("uniform", "float32", "state:87654321:5", raw.RandomUniform(**kw))
    add("normal", "float32", "state:87654321:5", raw.RandomStandardNormal(**kw))
    add("truncated_normal", "float32", "state:87654321:5", raw.TruncatedNormal(**kw))
    add("uniform_int", "int32", "state:87654321:5",
        raw.RandomUniformInt(shape=[11], minval=0, maxval=100, seed=87654321, seed2=5), (0, 100))
    add("permutation", "int64", "state:87654321:5",
        raw.RandomShuffle(value=tf.range(30, dtype=tf.int64), seed=87654321, seed2=5))


def sampling():
    r = np.random.default_rng(0)
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        for rows, classes, draws in ((1, 1, 3), (1, 4, 1), (1, 4, 7), (3, 5, 4), (3, 5, 3),
                                     (4, 10, 1), (2, 100, 10)):
            logits = (r.normal(size=(rows, classes)) * 2).astype(tf.as_dtype(dtype).as_numpy_dtype)
            if classes == 5:
                logits[1, 2] = -np.inf
                logits[2, 0] = np.nan
            if classes == 10:
                logits[3] = -np.inf
            s = SEEDS[(rows + draws) % len(SEEDS)]
            out = tf.random.stateless_categorical(logits, draws, seed_tensor(s), dtype="int64")
            add("categorical", dtype, "seed:%d:%d" % s, out, [classes, *spell(logits)])
    for i, n in enumerate([1, 2, 3, 4, 5, 9, 40]):
        s = SEEDS[i % len(SEEDS)]
        add("permutation", "int64", "seed:%d:%d" % s,
            tf.random.experimental.stateless_shuffle(tf.range(n, dtype=tf.int64), seed_tensor(s)))
    add("permutation", "int64", "seed:1:2",
        tf.random.experimental.stateless_shuffle(tf.range(LARGE, dtype=tf.int64), [1, 2]),
        form="hash")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="rill/kernels/functors/testdata/random.txt")
    args = parser.parse_args()
    stateless()
    v2()
    stateful()
    sampling()
    with open(args.out, "w", encoding="ascii") as f:
        f.write("# Made by tools/goldens/make_random_goldens.py, which tells the format.\n\n")
        f.write("\n".join(lines))
    print(len(lines) // 3, "cases")


if __name__ == "__main__":
    main()
