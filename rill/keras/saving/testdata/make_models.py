"""Models and weights as Keras 2.15 writes them, with what it computes: the goldens of this folder.

    make_models.py [folder]

For each model NAME: NAME.h5, NAME.keras, NAME.json, NAME.weights.h5 and the checkpoint NAME after one
step of training; expected.json has its results, and those after one step more.
"""
import json
import os
import sys
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.filterwarnings("ignore")
import numpy as np
import tensorflow as tf

tf.get_logger().setLevel("ERROR")

keras, layers = tf.keras, tf.keras.layers
FOLDER = os.path.dirname(os.path.abspath(__file__))


def numbers(*shape):
    n = int(np.prod(shape))
    return ((np.arange(n) * 7 % 16 - 8) / 8).astype("float32").reshape(shape)


def stack():
    model = keras.Sequential([layers.Flatten(input_shape=(2, 2)), layers.Dense(3, activation="relu"),
                              layers.Dropout(0.0), layers.Dense(2)], name="stack")
    return model, numbers(6, 2, 2), "adam"


def graph():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    shared = layers.Dense(4, activation="tanh", name="shared")
    total = layers.Dense(4, name="late")(shared(a) + shared(b)) + layers.Dense(4, name="early")(a)
    model = keras.Model([a, b], layers.Dense(2, name="out")(total), name="graph")
    return model, [numbers(6, 4), -numbers(6, 4) / 2], "adam"


def nested():
    inner = keras.Sequential([layers.Dense(4, activation="tanh", input_shape=(4,), name="first")], name="inner")
    i = keras.Input((4,), name="i")
    block = keras.Model(i, layers.Dense(4, name="second")(i) + i, name="block")
    x = keras.Input((4,), name="x")
    y = block(inner(block(inner(x))))
    model = keras.Model(x, layers.Dense(2, name="last")(y), name="nested")
    return model, numbers(6, 4), keras.optimizers.SGD(0.05, momentum=0.9)


def ops():
    x = keras.Input((4,), name="x")
    h = layers.Dense(4, name="h")(x)
    y = tf.nn.relu(h) * 2.0 - 1.0
    z = tf.concat([y, 1.0 - x, tf.square(h) / tf.constant([1.0, 2.0, 4.0, 8.0])], axis=-1)
    z = z[:, 1:11] + tf.reduce_mean(z, axis=1, keepdims=True)
    z = tf.reshape(tf.transpose(tf.reshape(z, (-1, 2, 5)), perm=[0, 2, 1]), (-1, 10))
    return keras.Model(x, layers.Dense(2, name="out")(tf.maximum(z, -0.5)), name="ops"), numbers(6, 4), "rmsprop"


def scaled():
    model = keras.Sequential([layers.Dense(3, activation="tanh", input_shape=(4,)), layers.Dense(2)], name="scaled")
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(0.05), initial_scale=64,
                                                         dynamic_growth_steps=1)
    return model, numbers(6, 4), optimizer



def calls():
    """Calls with tensors, masks, states and flags as arguments."""
    x, y = keras.Input((3, 4), name="x"), keras.Input((5, 4), name="y")
    keep, sees = keras.Input((5,), dtype="bool", name="keep"), keras.Input((3, 5), dtype="bool", name="sees")
    a = layers.MultiHeadAttention(2, 3, name="heads")(x, value=y, attention_mask=sees)
    b = layers.MultiHeadAttention(2, 3, name="causal")(query=a, value=x, key=a, use_causal_mask=True)
    c, scores = layers.Attention(name="look")([b, y], mask=[None, keep], return_attention_scores=True)
    h = layers.Dense(3, name="h")(layers.Flatten(name="flat")(scores))
    g = layers.GRU(3, name="gru")(c, initial_state=h)
    l = layers.LSTM(3, name="lstm")(y, mask=keep)
    o, (p, q) = layers.LSTMCell(3, name="cell")(g, [h, l])
    z = layers.Concatenate(name="all")([layers.Add(name="sum")([o, g]), p, q])
    z = layers.BatchNormalization(name="norm")(z, training=False)
    model = keras.Model([x, y, keep, sees], layers.Dense(2, name="out")(z), name="calls")
    return model, [numbers(6, 3, 4), numbers(6, 5, 4) / 2, numbers(6, 5) > -0.5, numbers(6, 3, 5) > -0.7], "adam"

def arrays():
    """Plain ops that build arrays and take them apart."""
    x = keras.Input((4,), name="x")
    h = layers.Dense(4, name="h")(x)
    a, b = tf.split(h, 2, axis=1)
    c, d, _ = tf.split(h, [1, 2, 1], axis=-1)
    p, q = tf.unstack(tf.stack([a, b * 2.0], axis=1), axis=1)
    w = tf.where(p > 0.25, q, tf.zeros_like(q)) + tf.where(q > 0.0, 0.5, p)
    w = tf.squeeze(tf.expand_dims(w, 1), 1) + tf.ones_like(w)
    t = tf.pad(tf.tile(d, [1, 2]), [[0, 0], [1, 0]])
    t = tf.pad(t, [[0, 0], [0, 1]], constant_values=2.0) + tf.pad(h, [[0, 0], [0, 2]], mode="REFLECT")
    t = tf.gather(t, [2, 0, 5, 1], axis=1)
    k = tf.one_hot(tf.argmax(h, axis=-1), 4) * tf.clip_by_value(h, -0.5, 0.5)
    m = h % 0.75 + h // 0.75 * 0.125 + tf.cast(tf.cast(h * 4.0, tf.int32), tf.float32)
    n = (h[:, tf.newaxis, 1:3] + tf.ones_like(h)[:, tf.newaxis, :2])[:, 0]
    r = tf.nn.l2_normalize(tf.cumsum(h, axis=1), axis=-1) + tf.reverse(tf.floor(h), [1])
    r = tf.reshape(r, [tf.shape(h)[0], 4]) + tf.fill(tf.shape(h), 0.25)
    z = tf.concat([c, w, t, k, m, n, r], axis=1)
    return keras.Model(x, layers.Dense(2, name="out")(z), name="arrays"), numbers(6, 4), "rmsprop"


def cells():
    """Cells in a list."""
    x = keras.Input((5, 4), name="x")
    y = layers.RNN([layers.LSTMCell(2), layers.GRUCell(3), layers.LSTMCell(2)], name="rnn")(x)
    return keras.Model(x, layers.Dense(2, name="out")(y), name="cells"), numbers(6, 5, 4), "adam"


LENGTHS = [2, 1, 5, 1, 3, 4]


def ragged():
    """Rows of different lengths: words, and steps of three numbers."""
    words = keras.Input((None,), dtype="int32", ragged=True, name="words")
    steps = keras.Input((None, 3), ragged=True, name="steps")
    y = layers.LSTM(4, return_sequences=True, name="lstm")(layers.Embedding(7, 4, name="rows")(words))
    y = layers.Dense(3, activation="tanh", name="each")(y)
    z = layers.Concatenate(name="all")([layers.GlobalAveragePooling1D(name="mean")(y), layers.GRU(3, name="gru")(steps)])
    x = [tf.RaggedTensor.from_row_lengths((np.abs(numbers(16)) * 8).astype("int32") % 7, LENGTHS),
         tf.RaggedTensor.from_row_lengths(numbers(16, 3), LENGTHS)]
    return keras.Model([words, steps], layers.Dense(2, name="out")(z), name="ragged"), x, "adam"


def sparse():
    """Rows that are mostly zeros, beside others."""
    x, y = keras.Input((5,), sparse=True, name="x"), keras.Input((4,), name="y")
    z = layers.Dense(3, activation="tanh", name="few")(x) + layers.Dense(3, name="many")(y)
    rows = numbers(6, 5) * (numbers(6, 5) > 0.3)
    model = keras.Model([x, y], layers.Dense(2, name="out")(z), name="sparse")
    return model, [tf.sparse.from_dense(rows), numbers(6, 4)], "rmsprop"


def adapted():
    """Layers that look at the data first. Checkpoints hold what they found, but no words."""
    x, w = keras.Input((3,), name="x"), keras.Input((2,), dtype="string", name="w")
    rows, texts = numbers(6, 3), np.array([["a", "b"], ["a", "c"], ["d", "a"]] * 2)
    norm, bins = layers.Normalization(name="norm"), layers.Discretization(num_bins=3, name="bins")
    words = layers.StringLookup(output_mode="multi_hot", name="words")
    norm.adapt(rows)
    bins.adapt(rows)
    words.adapt(texts)
    y = layers.Concatenate(name="all")([norm(x), tf.cast(bins(x), tf.float32), words(w)])
    return keras.Model([x, w], layers.Dense(2, name="out")(y), name="adapted"), [rows, texts]


class Part(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.into = layers.Dense(units)
        self.back = layers.Dense(4)

    def call(self, x):
        return self.back(self.into(x))


class Own(keras.Model):
    """A class of one's own: weights alone. Its attributes stand on both sides of "layers"."""

    def __init__(self):
        super().__init__(name="own")
        self.dense1 = layers.Dense(4, activation="tanh")
        self.out = layers.Dense(2)
        self.dense2 = layers.Dense(4)
        self.norm = layers.BatchNormalization()
        self.part = Part(3)
        self.block = Part(5)
        self.seq = keras.Sequential([layers.Dense(4)])

    def call(self, x, training=False):
        x = self.block(self.part(self.dense2(self.dense1(x))))
        return self.out(self.norm(self.seq(x), training=training))


def own():
    return Own(), numbers(6, 4), "adam"


MODELS = {"stack": stack, "graph": graph, "nested": nested, "ops": ops, "scaled": scaled,
          "calls": calls, "arrays": arrays, "cells": cells, "ragged": ragged, "sparse": sparse}
TARGETS = numbers(6, 2)


def results(model, x):
    """What a model computes, and what after one step more."""
    before = model.predict_on_batch(x)
    logs = model.train_on_batch(x, TARGETS, return_dict=True)
    return {"before": before.reshape(-1).tolist(), "loss": float(logs["loss"]), "mae": float(logs["mae"]),
            "after": model.predict_on_batch(x).reshape(-1).tolist()}


def main():
    os.makedirs(FOLDER, exist_ok=True)
    expected = {}
    for name, make in MODELS.items():
        keras.utils.set_random_seed(1)
        model, x, optimizer = make()
        model.compile(optimizer, "mse", metrics=["mae"])
        model.train_on_batch(x, TARGETS)
        model.reset_metrics()
        path = os.path.join(FOLDER, name)
        model.save(path + ".h5")
        model.save(path + ".keras")
        model.save_weights(path)
        model.save_weights(path + ".weights.h5")
        with open(path + ".json", "w") as f:
            f.write(model.to_json())
        expected[name] = results(model, x)
    keras.utils.set_random_seed(1)
    model, x, optimizer = own()
    model.compile(optimizer, "mse", metrics=["mae"])
    model.train_on_batch(x, TARGETS)
    for suffix in ("", ".weights.h5", "_weights.h5"):
        model.save_weights(os.path.join(FOLDER, "own") + suffix)
    expected["own"] = {"before": model.predict_on_batch(x).reshape(-1).tolist()}
    keras.utils.set_random_seed(1)
    model, x = adapted()
    model.save_weights(os.path.join(FOLDER, "adapted"))
    expected["adapted"] = {"before": model.predict_on_batch(x).reshape(-1).tolist()}
    with open(os.path.join(FOLDER, "expected.json"), "w") as f:
        json.dump(expected, f, indent=1)
    os.remove(os.path.join(FOLDER, "checkpoint"))


if __name__ == "__main__":
    FOLDER = sys.argv[1] if len(sys.argv) > 1 else FOLDER
    main()
