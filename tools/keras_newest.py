"""Models and weights between Rill and the newest Keras, both ways.

    keras_newest.py <keras_test> <goldens folder> [--update]

Theirs: Keras writes the models of make_models.py anew, and Rill's tests read them instead of those
that are checked in; --update checks them in. Ours: keras_test writes the same models, Keras loads
them, computes what Rill computes, and goes on training as Rill does.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

binary, goldens = (os.path.abspath(p) for p in sys.argv[1:3])
update = "--update" in sys.argv
sys.argv = sys.argv[:1]
sys.path.insert(0, goldens)
sys.dont_write_bytecode = True
import make_models as theirs
from make_models import keras, np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Checked in beside every .keras, .json and expected.json: the rest differs little from these.
KEPT = ("graph.h5", "recurrent.h5", "conv.weights.h5")
checked = 0


def check(ok, what):
    global checked
    checked += 1
    if not ok:
        sys.exit("keras_newest: " + what)


def run(tests, **environment):
    subprocess.run([binary, "--gtest_brief=1", "--gtest_filter=" + tests], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "RILL_SOURCE_DIR": ROOT, **environment})
    check(True, "")


def near(got, want, what):
    check(np.allclose(got, want, rtol=0, atol=4e-6), f"{what}: {got}, and not {want}")


def keras_reads(folder):
    with open(folder + "/expected.json") as f:
        expected = json.load(f)
    for name, want in expected.items():
        x = theirs.MODELS[name]()[1]
        # As if the training had not stopped.
        got = theirs.results(keras.models.load_model(f"{folder}/{name}.keras"), x)
        for key in want:
            near(got[key], want[key], f"{name}.keras: {key}")
        # Keras 3 does not compile what it reads from HDF5, not even from its own files, when a loss has a short name.
        model = keras.models.load_model(f"{folder}/{name}.h5", compile=False)
        near(model.predict_on_batch(x).reshape(-1), want["before"], name + ".h5")
        model = keras.models.load_model(f"{folder}/{name}.keras", compile=False)
        for weight in model.weights:
            weight.assign(weight * 0)
        model.load_weights(f"{folder}/{name}.weights.h5")
        near(model.predict_on_batch(x).reshape(-1), want["before"], name + ".weights.h5")


with tempfile.TemporaryDirectory() as temporary:
    theirs.FOLDER = temporary + "/theirs"
    theirs.main()
    if update:
        for name in os.listdir(theirs.FOLDER):
            if name.endswith((".keras", ".json")) or name in KEPT:
                shutil.copy(os.path.join(theirs.FOLDER, name), goldens)
    run("*Keras3Files.*", RILL_KERAS3_GOLDENS=theirs.FOLDER)
    ours = temporary + "/ours"
    run("Keras3.RillWritesForKeras", RILL_KERAS3_OUT=ours)
    keras_reads(ours)
print(f"keras_newest: {checked} checks, Rill reads what Keras {keras.__version__} writes and the reverse")
