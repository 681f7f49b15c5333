"""Models and weights as Keras 3 writes them, with what it computes: the goldens of this folder.

    make_models.py [folder]

For each model NAME: NAME.h5, NAME.keras, NAME.json and NAME.weights.h5 after one step of training, of some
the TensorFlow checkpoint NAME; expected.json has its results, and those after one step more.
"""
import json
import os
import sys
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
warnings.filterwarnings("ignore")
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from keras.src.applications.convnext import LayerScale, StochasticDepth
from keras.src.applications.inception_resnet_v2 import CustomScaleLayer

# Keras finds these by their modules, which HDF5 files do not name, not even its own.
OF_APPLICATIONS = {c.__name__: c for c in (LayerScale, StochasticDepth, CustomScaleLayer)}

FOLDER = os.path.dirname(os.path.abspath(__file__))


def numbers(*shape):
    n = int(np.prod(shape))
    return ((np.arange(n) * 7 % 16 - 8) / 8).astype("float32").reshape(shape)


def words(*shape):
    return (np.abs(numbers(*shape)) * 8).astype("int32") % 7


def stack():
    model = keras.Sequential([keras.Input((2, 2)), layers.Flatten(), layers.Dense(3, activation="relu"),
                              layers.Dropout(0.0), layers.Dense(2)], name="stack")
    return model, numbers(6, 2, 2), "adam"


def graph():
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    shared = layers.Dense(4, activation="tanh", name="shared")
    total = layers.Add(name="sum")([layers.Dense(4, name="late")(layers.Concatenate(name="both")([shared(a), shared(b)])),
                                    layers.Dense(4, name="early")(a)])
    model = keras.Model([a, b], layers.Dense(2, name="out")(total), name="graph")
    return model, [numbers(6, 4), -numbers(6, 4) / 2], keras.optimizers.AdamW(0.01)


def nested():
    inner = keras.Sequential([keras.Input((4,)), layers.Dense(4, activation="tanh", name="first")], name="inner")
    i = keras.Input((4,), name="i")
    block = keras.Model(i, layers.Add()([layers.Dense(4, name="second")(i), i]), name="block")
    x = keras.Input((4,), name="x")
    y = block(inner(block(inner(x))))
    model = keras.Model(x, layers.Dense(2, name="last")(y), name="nested")
    return model, numbers(6, 4), keras.optimizers.SGD(0.05, momentum=0.9)


def conv():
    model = keras.Sequential([
        keras.Input((8, 8, 2)), layers.Conv2D(4, 3, padding="same", activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.SeparableConv2D(3, 2), layers.DepthwiseConv2D(2, depth_multiplier=2),
        layers.Conv2DTranspose(2, 2, strides=2), layers.LayerNormalization(), layers.GlobalAveragePooling2D(),
        layers.Dense(2, kernel_regularizer="l2")], name="conv")
    return model, numbers(6, 8, 8, 2), keras.optimizers.RMSprop(0.01, momentum=0.5)


def recurrent():
    x = keras.Input((5,), dtype="int32", name="words")
    y = layers.Embedding(7, 4, mask_zero=True, embeddings_initializer=keras.initializers.RandomUniform(-1, 1))(x)
    y = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(y)
    y = layers.GRU(3, return_sequences=True)(y)
    y = layers.SimpleRNN(3, return_sequences=True, activation="relu")(y)
    y, h, c = layers.LSTM(3, return_state=True)(y)
    model = keras.Model(x, layers.Dense(2)(layers.Concatenate()([y, h, c])), name="recurrent")
    # Not Adam: of gradients that are all but zero it makes steps of full size, rounding errors included.
    return model, words(6, 5), keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)


def attention():
    x = keras.Input((5, 4), name="x")
    y = layers.MultiHeadAttention(2, 3, name="heads")(x, x)
    y = layers.LayerNormalization(name="norm")(layers.Add(name="sum")([x, y]))
    y = layers.TimeDistributed(layers.Dense(3, activation="gelu"), name="each")(y)
    y = layers.LeakyReLU(negative_slope=0.1, name="leaky")(y)
    y = layers.Reshape((15,), name="flat")(y)
    return keras.Model(x, layers.Dense(2, name="out")(y), name="attention"), numbers(6, 5, 4), keras.optimizers.Adamax(0.01)


def operators():
    x = keras.Input((4,), name="x")
    h = layers.Dense(4, name="h")(x)
    y = ops.relu(h) * 2.0 - 1.0
    z = ops.concatenate([y, 1.0 - x, ops.square(h) / 4.0], axis=-1)
    z = z[:, 1:11] + ops.mean(z, axis=1, keepdims=True)
    z = ops.reshape(ops.transpose(ops.reshape(z, (-1, 2, 5)), axes=(0, 2, 1)), (-1, 10))
    return keras.Model(x, layers.Dense(2, name="out")(ops.maximum(z, -0.5)), name="operators"), numbers(6, 4), "adam"


def arrays():
    """Ops that build arrays and take them apart."""
    x = keras.Input((4,), name="x")
    h = layers.Dense(4, name="h")(x)
    a, b = ops.split(h, 2, axis=1)
    c, d, _ = ops.split(h, [1, 3], axis=-1)
    p, q = ops.unstack(ops.stack([a, b * 2.0], axis=1), axis=1)
    w = ops.where(p > 0.25, q, ops.zeros_like(q)) + ops.where(q > 0.0, 0.5, p)
    w = ops.squeeze(ops.expand_dims(w, 1), 1) + ops.ones_like(w)
    t = ops.pad(ops.tile(d, [1, 2]), [[0, 0], [1, 0]])
    t = ops.pad(t, [[0, 0], [0, 1]], constant_values=2.0) + ops.pad(h, [[0, 0], [0, 2]], mode="reflect")
    t = ops.take(t, [2, 0, 5, 1], axis=1)
    k = ops.one_hot(ops.argmax(h, axis=-1), 4) * ops.clip(h, -0.5, 0.5)
    m = h % 0.75 + h // 0.75 * 0.125 + ops.cast(ops.cast(h * 4.0, "int32"), "float32")
    n = (h[:, None, ..., 1:3] + ops.ones_like(h)[..., None, :2])[:, 0]
    r = ops.cumsum(h, axis=1) + ops.flip(ops.floor(h), axis=1)
    r = r + ops.einsum("bi,bj->bi", h, ops.sin(h))
    z = ops.concatenate([c, w, t, k, m, n, r], axis=1)
    return keras.Model(x, layers.Dense(2, name="out")(z), name="arrays"), numbers(6, 4), keras.optimizers.RMSprop(0.001)


def cells():
    """Cells in a list."""
    x = keras.Input((5, 4), name="x")
    y = layers.RNN([layers.LSTMCell(2), layers.GRUCell(3), layers.LSTMCell(2)], name="rnn")(x)
    return keras.Model(x, layers.Dense(2, name="out")(y), name="cells"), numbers(6, 5, 4), keras.optimizers.SGD(0.1)


def masks():
    """What becomes of masks, which Keras 2 merges otherwise."""
    x = keras.Input((5,), dtype="int32", name="words")
    e = layers.Embedding(7, 4, mask_zero=True, name="e")(x)
    f = layers.Embedding(7, 4, mask_zero=True, name="f")(ops.flip(x, axis=1))
    g = layers.Embedding(7, 4, name="g")(x)
    parts = [layers.GRU(2, name="sum")(layers.Add()([e, g])), layers.GRU(2, name="both")(layers.Add()([e, f])),
             layers.GRU(2, name="product")(layers.Multiply()([e, f])), layers.GRU(2, name="half")(layers.Multiply()([e, g])),
             layers.GRU(2, name="most")(layers.Maximum()([e, f, g])), layers.GRU(2, name="least")(layers.Minimum()([f, e])),
             layers.GRU(2, name="wide")(layers.Concatenate()([e, g])), layers.GRU(2, name="long")(layers.Concatenate(axis=1)([e, f]))]
    # Attention takes the masks of its inputs away, so that it gets its own.
    i, j = (layers.Embedding(7, 4, mask_zero=True, name=name)(x) for name in ("i", "j"))
    h = layers.MultiHeadAttention(2, 3, name="heads")(i, i)
    k = layers.MultiHeadAttention(2, 3, dropout=1e-9, name="dropping")(j, j)
    n = layers.LayerNormalization(name="norm")(layers.Add()([i, h]))
    second = layers.MultiHeadAttention(2, 3, name="second")(n, n)
    parts += [layers.Flatten()(h), layers.Flatten()(k), layers.GlobalAveragePooling1D()(h), layers.Flatten()(second)]
    t = layers.TimeDistributed(layers.Dense(3, name="inner"), name="each")(e)
    parts += [layers.Bidirectional(layers.LSTM(2), name="two")(t)]
    y = layers.Concatenate(name="all")(parts)
    return keras.Model(x, layers.Dense(2, name="out")(y), name="masks"), words(6, 5), keras.optimizers.SGD(0.1)


def hard():
    """Functions and moving averages that Keras 2 has under the same names."""
    x = keras.Input((5, 4), name="x")
    y = layers.LSTM(3, recurrent_activation="hard_sigmoid", return_sequences=True, name="lstm")(x)
    y = layers.GRU(3, activation="hard_sigmoid", return_sequences=True, name="gru")(y)
    y = layers.TimeDistributed(layers.BatchNormalization(name="norm", momentum=0.5), name="each")(y)
    y = layers.Reshape((5, 3, 1), name="image")(y)
    y = layers.BatchNormalization(name="fused", momentum=0.5)(layers.Conv2D(2, 2, name="conv", activation="hard_sigmoid")(y))
    y = layers.Flatten(name="flat")(y)
    return keras.Model(x, layers.Dense(2, name="out")(y), name="hard"), numbers(6, 5, 4), keras.optimizers.SGD(0.1)


def mixed():
    """Half precision, where compile puts an optimizer around the given one."""
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="relu", dtype="mixed_float16"),
                              layers.Dense(2, dtype="float32")], name="mixed")
    model.dtype_policy = "mixed_float16"
    return model, numbers(6, 4), keras.optimizers.Adam(0.01)


def factor():
    """An optimizer that scales the loss by a number."""
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="tanh"), layers.Dense(2)], name="factor")
    return model, numbers(6, 4), keras.optimizers.SGD(0.05, momentum=0.9, loss_scale_factor=128.0)


def scaling():
    """The same, by a number that changes."""
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="tanh"), layers.Dense(2)], name="scaling")
    inner = keras.optimizers.Nadam(0.05)
    return model, numbers(6, 4), keras.optimizers.LossScaleOptimizer(inner, initial_scale=64.0, dynamic_growth_steps=2)


def gathering():
    """An optimizer that makes a step of three, saved behind the first; the second of them follows."""
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="tanh"), layers.Dense(2)], name="gathering")
    return model, numbers(6, 4), keras.optimizers.Adam(0.05, gradient_accumulation_steps=3)


def pairs():
    """The same with two, so that the next makes the step; no momenta, and averages."""
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="tanh"), layers.Dense(2)], name="pairs")
    return model, numbers(6, 4), keras.optimizers.SGD(0.05, gradient_accumulation_steps=2, use_ema=True,
                                                      ema_momentum=0.5, ema_overwrite_frequency=1)


def scaled_pairs():
    """And where the loss is scaled."""
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="tanh"), layers.Dense(2)], name="scaled_pairs")
    inner = keras.optimizers.Nadam(0.05, gradient_accumulation_steps=2)
    return model, numbers(6, 4), keras.optimizers.LossScaleOptimizer(inner, initial_scale=64.0, dynamic_growth_steps=2)


def parts():
    """Layers of the applications."""
    x = keras.Input((4,), name="x")
    y = layers.Dense(4, name="branch")(x)
    y = StochasticDepth(0.0, name="depth")(LayerScale(0.5, 4, name="scale")(y))
    y = CustomScaleLayer(0.25, name="sum")([x, y])
    return keras.Model(x, layers.Dense(2, name="out")(y), name="parts"), numbers(6, 4), keras.optimizers.SGD(0.1)


def states():
    """States of recurrent layers that other layers give."""
    x, s = keras.Input((5, 4), name="x"), keras.Input((3,), name="s")
    h = layers.Dense(3, name="h")(layers.Flatten(name="flat")(x))
    g = layers.GRU(3, name="gru")(x, initial_state=h)
    l = layers.LSTM(3, name="lstm")(x, initial_state=[h, s])
    y = layers.Dense(2, name="out")(layers.Concatenate(name="both")([g, l]))
    return keras.Model([x, s], y, name="states"), [numbers(6, 5, 4), numbers(6, 3)], keras.optimizers.SGD(0.1)


def constants():
    """Inputs that are no part of the drawing."""
    x = keras.Input((4,), name="x")
    h = layers.Dense(4, name="h")(x)
    y = layers.Multiply(name="times")([h, ops.convert_to_tensor(numbers(1, 4))])
    return keras.Model(x, layers.Dense(2, name="out")(y), name="constants"), numbers(6, 4), keras.optimizers.SGD(0.1)


def newer():
    """Layers and an optimizer that Keras 2 does not have."""
    x = keras.Input((5, 4), name="x")
    y = layers.GroupQueryAttention(2, 4, 2, name="group")(x, x, use_causal_mask=True)
    y = layers.RMSNormalization(name="rms")(y)
    y = layers.Dense(3, activation="hard_silu", name="dense")(y)
    y = layers.Dense(2, name="out")(layers.Flatten(name="flat")(y))
    return keras.Model(x, y, name="newer"), numbers(6, 5, 4), keras.optimizers.Lamb(0.01, weight_decay=0.1)


def muon():
    """An optimizer that keeps less of some variables than of others."""
    model = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="tanh"), layers.Dense(2)], name="muon")
    return model, numbers(6, 4), keras.optimizers.Muon(0.05)


def lora():
    """Adapted layers, of which files hold sums; a whole model in HDF5 has the factors."""
    x = keras.Input((5,), dtype="int32", name="x")
    y = layers.Embedding(7, 4, name="words", embeddings_initializer=keras.initializers.RandomUniform(-1, 1))(x)
    y = layers.EinsumDense("abc,cd->abd", (5, 3), bias_axes="d", name="einsum", lora_rank=2, lora_alpha=4)(y)
    y = layers.TimeDistributed(layers.Dense(3, activation="tanh", lora_rank=1), name="each")(y)
    model = keras.Model(x, layers.Dense(2, name="out")(layers.Flatten(name="flat")(y)), name="lora")
    model.get_layer("words").enable_lora(2, b_initializer="ones")
    return model, words(6, 5), keras.optimizers.Adam(0.01)


def filters():
    """Adapted convolutions."""
    x = keras.Input((4, 4, 4), name="x")
    y = layers.Reshape((4, 4, 4, 1), name="volume")(x)
    y = layers.Conv3D(2, 2, name="three", lora_rank=1)(y)
    y = layers.Reshape((3, 3, 6), name="image")(y)
    y = layers.Conv2D(4, (2, 3), groups=2, padding="same", activation="tanh", name="two")(y)
    y = layers.Reshape((9, 4), name="line")(y)
    y = layers.Conv1D(3, 3, strides=2, padding="causal", use_bias=False, name="one", lora_rank=2, lora_alpha=4)(y)
    model = keras.Model(x, layers.Dense(2, name="out")(layers.Flatten(name="flat")(y)), name="filters")
    model.get_layer("two").enable_lora(2, b_initializer="ones")
    return model, numbers(6, 4, 4, 4), keras.optimizers.Adam(0.01, epsilon=1e-3)


class Part(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.into = layers.Dense(units)
        self.back = layers.Dense(4)

    def build(self, shape):
        self.into.build(shape)
        self.back.build((*shape[:-1], self.into.units))

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


MODELS = {"stack": stack, "graph": graph, "nested": nested, "conv": conv, "recurrent": recurrent,
          "attention": attention, "operators": operators, "arrays": arrays, "cells": cells,
          "masks": masks, "hard": hard, "mixed": mixed, "factor": factor, "scaling": scaling, "parts": parts,
          "states": states, "constants": constants, "newer": newer, "muon": muon, "gathering": gathering,
          "pairs": pairs, "scaled_pairs": scaled_pairs}
ADAPTED = {"lora": lora, "filters": filters}
# Of which there are checkpoints too.
CHECKPOINTS = ("graph", "nested", "conv", "recurrent", "mixed", "scaling", "gathering")
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
        keras.backend.clear_session()
        model, x, optimizer = make()
        model.compile(optimizer, "mse", metrics=["mae"])
        model.train_on_batch(x, TARGETS)
        model.reset_metrics()
        path = os.path.join(FOLDER, name)
        model.save(path + ".keras")
        model.save_weights(path + ".weights.h5")
        with open(path + ".json", "w") as f:
            f.write(model.to_json())
        if name in CHECKPOINTS:
            tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(path)
        model.save(path + ".h5")  # last: with it Keras 3 forgets the optimizer of its own configuration
        expected[name] = results(model, x)
    for name, make in ADAPTED.items():
        keras.utils.set_random_seed(1)
        keras.backend.clear_session()
        model, x, optimizer = make()
        model.compile(optimizer, "mse", metrics=["mae"])
        for _ in range(3):
            model.train_on_batch(x, TARGETS)
        model.reset_metrics()
        path = os.path.join(FOLDER, name)
        model.save(path + ".keras")
        model.save_weights(path + ".weights.h5")
        with open(path + ".json", "w") as f:
            f.write(model.to_json())
        # After loading, both factors are 0 in Keras, and stay so.
        expected[name] = results(keras.models.load_model(path + ".keras"), x)
        model.save(path + ".h5")
        expected[name + "_h5"] = results(model, x)
    keras.utils.set_random_seed(1)
    model, x, optimizer = own()
    model.compile(optimizer, "mse", metrics=["mae"])
    model.train_on_batch(x, TARGETS)
    model.save_weights(os.path.join(FOLDER, "own.weights.h5"))
    tf.train.Checkpoint(model).write(os.path.join(FOLDER, "own"))
    expected["own"] = {"before": model.predict_on_batch(x).reshape(-1).tolist()}
    with open(os.path.join(FOLDER, "expected.json"), "w") as f:
        json.dump(expected, f, indent=1)


if __name__ == "__main__":
    FOLDER = sys.argv[1] if len(sys.argv) > 1 else FOLDER
    main()
