"""Which functions in functional models Rill reads from files of Keras, and whether it computes the same.

    keras_functions.py <keras_test>

For every public function of TensorFlow (Keras 2) or of keras.ops (Keras 3) that takes one tensor, or
two, a model of that function alone is saved with a sample; keras_test answers. Prints what is refused
and what is wrong; wrong values are an error.
"""
import inspect
import json
import os
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
warnings.filterwarnings("ignore")
import numpy as np
import tensorflow as tf
import keras

NEW = keras.__version__.startswith("3")
SAMPLES = [((np.arange(12) * 7 % 16 - 8) / 9).astype("float32").reshape(3, 4),
           ((np.arange(12) * 5 % 16 + 2) / 9).astype("float32").reshape(3, 4)]
# Random, of no tensor, or with effects.
SKIPPED = ("print", "py_function", "numpy_function", "dropout", "shuffle", "bessel", "fft", "rnn", "scan", "map", "while")


def functions():
    if NEW:
        modules = [("ops.", keras.ops)]
    else:
        modules = [("", tf), ("math.", tf.math), ("nn.", tf.nn), ("linalg.", tf.linalg), ("image.", tf.image)]
    for prefix, module in modules:
        for name in sorted(dir(module)):
            f = getattr(module, name)
            if inspect.isfunction(f) and not name.startswith("_") and not any(s in name for s in SKIPPED):
                yield prefix + name, f


def model_of(f, count):
    xs = [keras.Input((4,), name=f"x{i}") for i in range(count)]
    y = f(*xs)
    return keras.Model(xs if count > 1 else xs[0], y)


def cases(folder):
    """Of each function the first of one tensor or two that makes a model which Keras itself reads again."""
    for name, f in functions():
        for count in (1, 2):
            file = f"{name}.{count}.keras"
            try:
                model = model_of(f, count)
                model.save(os.path.join(folder, file))
                again = keras.models.load_model(os.path.join(folder, file), compile=False)
                given = SAMPLES[:count]
                got = again(given if count > 1 else given[0])
                want = [np.asarray(t) for t in tf.nest.flatten(got)]
                if not all(w.dtype.kind in "fiub" for w in want):
                    continue
            except Exception:  # it takes something else, or is no op of a model
                continue
            inputs = [{"dtype": "float32", "shape": g.shape, "values": g.reshape(-1).tolist()} for g in given]
            yield {"file": file, "inputs": inputs}, want
            break


def verdict(answer, want):
    if "error" in answer:
        return "refused: " + answer["error"].split("\n")[0][:110]
    got = answer["outputs"]
    if len(got) != len(want):
        return f"WRONG: {len(got)} results, expected {len(want)}"
    for g, w in zip(got, want):
        values = np.array([float(v) for v in g["values"]])
        if list(w.shape) != list(g["shape"]):
            return f"WRONG: shape {g['shape']}, expected {list(w.shape)}"
        if not np.allclose(values, w.reshape(-1).astype("float64"), rtol=1e-5, atol=1e-5, equal_nan=True):
            return "WRONG values"
    return "read, not written" if "not_written" in answer else ""


def main(keras_test):
    with tempfile.TemporaryDirectory() as folder:
        asked = list(cases(folder))
        with open(folder + "/cases.json", "w") as f:
            json.dump([case for case, _ in asked], f)
        subprocess.run([keras_test, "--gtest_filter=KerasFunctions.*"], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, RILL_KERAS_FUNCTIONS=folder))
        with open(folder + "/answers.json") as f:
            verdicts = [verdict(a, want) for a, (_, want) in zip(json.load(f), asked)]
    for (case, _), said in zip(asked, verdicts):
        if said:
            print(f"  {case['file'].removesuffix('.keras')}: {said}")
    refused, wrong = (sum(v.startswith(start) for v in verdicts) for start in ("refused", "WRONG"))
    print(f"Keras {keras.__version__}: {len(asked)} functions, {refused} refused, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
