"""HDF5 files with the optimizers of Keras before 2.11 (tf.keras.optimizers.legacy): the goldens of this folder.

    make_models.py [folder]

For each optimizer NAME: NAME.h5 and the checkpoint NAME after six steps of training; expected.json has what the model predicts after four
steps more.
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
keras, legacy = tf.keras, tf.keras.optimizers.legacy
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))

OPTIMIZERS = {
    "adam": legacy.Adam(0.01, amsgrad=True, decay=0.1),
    "sgd": legacy.SGD(0.1),
    "momentum": legacy.SGD(0.1, momentum=0.9, nesterov=True),
    "rmsprop": legacy.RMSprop(0.01, momentum=0.5, centered=True),
    "adagrad": legacy.Adagrad(0.1),
    "adadelta": legacy.Adadelta(1.0),
    "adamax": legacy.Adamax(0.01),
    "ftrl": legacy.Ftrl(0.1),
}

x = np.linspace(-1, 1, 24).reshape(8, 3).astype("float32")
y = np.linspace(0, 1, 16).reshape(8, 2).astype("float32")
expected = {}
for name, optimizer in OPTIMIZERS.items():
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(4, activation="tanh", input_shape=(3,)), keras.layers.Dense(2)])
    model.compile(optimizer, "mse")
    model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0)
    model.save(os.path.join(FOLDER, name + ".h5"))
    tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(os.path.join(FOLDER, name))
    model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    expected[name] = [float(v) for v in model.predict(x, verbose=0).ravel()]
with open(os.path.join(FOLDER, "expected.json"), "w") as out:
    json.dump(expected, out, indent=0)
