"""Small files in the formats of imdb.npz and boston_housing.npz, and what Keras makes of them.

    make_datasets.py           with TensorFlow 2.15.1: all files but one
    make_datasets.py --numpy2  with NumPy 2, which names its functions otherwise: imdb_numpy2.npz
"""
import io
import json
import os
import pickle
import sys
import zipfile

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))


def reviews(seed, count):
    rng = np.random.RandomState(seed)
    x = np.empty(count, dtype=object)
    for i in range(count):
        # As words are: small numbers are frequent, some need two or four bytes.
        x[i] = [int(w) for w in np.minimum(rng.zipf(1.3, size=rng.randint(1, 30)), 90000)]
    x[3] = x[1]  # the same list in two places
    return x, rng.randint(0, 2, size=count).astype("int64")


def npy(array, protocol):
    out = io.BytesIO()
    if array.dtype != object:
        np.save(out, array)
    else:
        header = {"descr": "|O", "fortran_order": False, "shape": array.shape}
        np.lib.format.write_array_header_1_0(out, header)
        pickle.dump(array, out, protocol=protocol)
    return out.getvalue()


def write_npz(name, arrays, protocol):
    with zipfile.ZipFile(os.path.join(FOLDER, name), "w", zipfile.ZIP_DEFLATED) as z:
        for key, array in arrays.items():
            z.writestr(zipfile.ZipInfo(key + ".npy"), npy(array, protocol), zipfile.ZIP_DEFLATED)


def imdb_arrays():
    (x_train, y_train), (x_test, y_test) = reviews(1, 40), reviews(2, 25)
    return {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test}


if "--numpy2" in sys.argv:
    write_npz("imdb_numpy2.npz", imdb_arrays(), 4)
    sys.exit()

for protocol in (2, 3, 4):
    write_npz(f"imdb_{protocol}.npz", imdb_arrays(), protocol)
rng = np.random.RandomState(3)
write_npz("boston_small.npz", {"x": rng.rand(23, 13), "y": rng.rand(23)}, 2)

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from keras.src.datasets import boston_housing, imdb

imdb.get_file = lambda path, **_: os.path.join(FOLDER, "imdb_2.npz")
boston_housing.get_file = lambda path, **_: os.path.join(FOLDER, "boston_small.npz")
cases = {
    "defaults": {},
    "words": {"num_words": 50, "skip_top": 5},
    "dropped": {"num_words": 20, "oov_char": None, "start_char": None, "index_from": 1},
    "short": {"maxlen": 12, "seed": 7},
    "bare": {"start_char": None, "index_from": 2, "oov_char": 0},
}
expected = {}
for name, arguments in cases.items():
    (x_train, y_train), (x_test, y_test) = imdb.load_data(**arguments)
    expected[name] = {"x_train": list(x_train), "y_train": y_train.tolist(),
                      "x_test": list(x_test), "y_test": y_test.tolist()}
for name, arguments in {"boston": {}, "boston_half": {"test_split": 0.5, "seed": 9}}.items():
    (x_train, y_train), (x_test, y_test) = boston_housing.load_data(**arguments)
    expected[name] = {"x_train": x_train[:, 0].tolist(), "y_train": y_train.tolist(),
                      "x_test": x_test[:, 0].tolist(), "y_test": y_test.tolist()}
with open(os.path.join(FOLDER, "expected.json"), "w") as f:
    json.dump(expected, f, separators=(",", ":"))
