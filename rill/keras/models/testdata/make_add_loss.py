"""Makes add_loss.* beside this script with Keras 2.15: a variational autoencoder whose KL divergence
is added to the model as a loss and shown as a metric, its file as Keras writes it, and what comes of
three steps of training. The noise is an input, so that the numbers can be compared.

    make_add_loss.py            writes the files
    make_add_loss.py FILE...    reads files of the same model, trains, and compares with add_loss.json
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow import keras

HERE = os.path.dirname(os.path.abspath(__file__))
X = ((np.arange(24) * 7 % 16) / 16).astype("float32").reshape(4, 6)
NOISE = ((np.arange(8) * 5 % 16 - 8) / 8).astype("float32").reshape(4, 2)


def filled(layers):
    """Weights by a formula that the test repeats."""
    for layer in layers:
        values = [(np.arange(w.size) * 5 % 13 - 6).astype("float32").reshape(w.shape) / 16 for w in layer.get_weights()]
        layer.set_weights(values)


def made():
    keras.backend.clear_session()
    x = keras.Input((6,), name="x")
    noise = keras.Input((2,), name="noise")
    h = keras.layers.Dense(5, activation="tanh", name="hidden")(x)
    mean = keras.layers.Dense(2, name="mean")(h)
    log_var = keras.layers.Dense(2, name="log_var")(h)
    z = mean + tf.exp(0.5 * log_var) * noise
    y = keras.layers.Dense(6, activation="sigmoid", name="decoder")(z)
    model = keras.Model([x, noise], y, name="vae")
    kl = -0.5 * tf.reduce_mean(1 + log_var - tf.square(mean) - tf.exp(log_var))
    model.add_loss(kl)
    model.add_metric(kl, name="kl")
    model.add_metric(tf.abs(mean), name="spread")
    filled(model.layers)
    return model


def trained(model):
    """Losses and metrics of three steps, then of evaluate, and what is predicted."""
    steps = []
    for _ in range(3):
        model.reset_metrics()
        steps.append(model.train_on_batch([X, NOISE], X, return_dict=True))
    told = model.evaluate([X, NOISE], X, batch_size=2, verbose=0, return_dict=True)
    return {"steps": steps, "evaluate": told, "predict": model.predict([X, NOISE], verbose=0).tolist()}


def vector_loss():
    """A loss that is no scalar."""
    x = keras.Input((2,), name="x")
    y = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones", name="d")(x)
    model = keras.Model(x, y)
    model.add_loss(tf.reduce_sum(tf.square(y), axis=1))
    model.compile(keras.optimizers.SGD(0.1))
    given = X[:3, :2]
    losses = [float(model.train_on_batch(given)) for _ in range(2)]
    return {"losses": losses, "kernel": model.get_weights()[0].tolist()}


def write():
    model = made()
    model.compile(keras.optimizers.SGD(0.5), loss="mse", metrics=["mae"])
    model.save(HERE + "/add_loss.h5")
    model.save(HERE + "/add_loss.keras")
    with open(HERE + "/add_loss.json", "w") as f:
        json.dump({"vae": trained(model), "vector": vector_loss(), "layers": [l.name for l in model.layers]}, f, indent=1)
        f.write("\n")


def check(files):
    with open(HERE + "/add_loss.json") as f:
        want = json.load(f)["vae"]
    for file in files:
        got = trained(keras.models.load_model(file))
        for a, b in zip(got["steps"] + [got["evaluate"]], want["steps"] + [want["evaluate"]]):
            assert sorted(a) == sorted(b), (a, b)
            for key in b:
                np.testing.assert_allclose(a[key], b[key], rtol=1e-5, err_msg=file + ": " + key)
        np.testing.assert_allclose(got["predict"], want["predict"], rtol=1e-5, atol=1e-6)
        print(f"{file}: as in add_loss.json")


if __name__ == "__main__":
    check(sys.argv[1:]) if sys.argv[1:] else write()
