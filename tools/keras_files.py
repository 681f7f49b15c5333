"""Models and weights between Rill and Keras 2.15, both ways.

    keras_files.py <keras_test> <goldens folder> [--update]

Theirs: Keras writes the models of make_models.py anew, and Rill's tests read them instead of those
that are checked in; --update checks them in. Ours: keras_test writes the same models, Keras loads
them, computes what Rill computes, and goes on training as Rill does.
"""
import json
import tempfile

import keras_checks as checks
from keras_checks import check, goldens, near, run, update
import make_models as theirs
from make_models import keras


def keras_reads(folder):
    with open(folder + "/expected.json") as f:
        expected = json.load(f)
    for name, make in theirs.MODELS.items():
        x, want = make()[1], expected[name]
        for suffix in (".h5", ".keras"):  # as if the training had not stopped
            got = theirs.results(keras.models.load_model(f"{folder}/{name}{suffix}"), x)
            for key in want:
                near(got[key], want[key], f"{name}{suffix}: {key}")
        with open(f"{folder}/{name}.json") as f:
            text = f.read()
        for suffix in ("", ".weights.h5", "_weights.h5"):
            model = keras.models.model_from_json(text)
            model.load_weights(f"{folder}/{name}{suffix}")
            near(model.predict_on_batch(x).reshape(-1), want["before"], name + suffix)
            # The layers are in the same order.
            again = json.loads(model.to_json())["config"]["layers"]
            names = [l["config"]["name"] for l in json.loads(text)["config"]["layers"]]
            check([l["config"]["name"] for l in again] == names, f"{name}: layers {names}")


def keras_reads_weights_of_own_classes(folder):
    with open(folder + "/expected.json") as f:
        want = json.load(f)["own"]["before"]
    for suffix in ("", ".weights.h5", "_weights.h5"):
        model, x, _ = theirs.own()
        model(x)
        model.load_weights(f"{folder}/own{suffix}")
        near(model.predict_on_batch(x).reshape(-1), want, "own" + suffix)


def keras_restores_the_optimizer(folder):
    with open(folder + "/expected.json") as f:
        want = json.load(f)["stack"]
    model, x, _ = theirs.stack()
    model.compile("adam", "mse", metrics=["mae"])
    model.train_on_batch(x, theirs.TARGETS)
    model.reset_metrics()
    model.load_weights(folder + "/stack")
    got = theirs.results(model, x)
    for key in want:
        near(got[key], want[key], f"checkpoint of stack: {key}")


def keras_restores_the_loss_scale(folder):
    model, x, optimizer = theirs.scaled()
    model.compile(optimizer, "mse")
    model.train_on_batch(x, theirs.TARGETS)
    model.train_on_batch(x, theirs.TARGETS)
    check(optimizer.loss_scale.numpy() == 256, "loss scale")
    model.load_weights(folder + "/scaled")
    check(optimizer.loss_scale.numpy() == 128, "checkpoint of scaled: loss scale")
    check(optimizer.iterations.numpy() == 1, "checkpoint of scaled: iterations")


def keras_reads_adapted_layers(folder):
    with open(folder + "/expected.json") as f:
        want = json.load(f)["adapted"]["before"]
    model, x = theirs.adapted()
    model.get_layer("norm").adapt(x[0] * 2)
    model.get_layer("bins").adapt(x[0] * 3)
    model.load_weights(folder + "/adapted")
    for name in ("norm", "bins"):  # Keras works these out of the weights
        model.get_layer(name).finalize_state()
    model.make_predict_function(force=True)
    near(model.predict_on_batch(x).reshape(-1), want, "adapted")


with tempfile.TemporaryDirectory() as temporary:
    theirs.FOLDER = temporary + "/theirs"
    theirs.main()
    if update:
        theirs.FOLDER = goldens
        theirs.main()
    run("KerasFiles.*", RILL_KERAS_GOLDENS=temporary + "/theirs")
    ours = temporary + "/ours"
    run("KerasFiles.RillWritesForKeras", RILL_KERAS_OUT=ours)
    keras_reads(ours)
    keras_reads_weights_of_own_classes(ours)
    keras_restores_the_optimizer(ours)
    keras_restores_the_loss_scale(ours)
    keras_reads_adapted_layers(ours)
print(f"keras_files: {checks.checked} checks, Rill reads what Keras writes and the reverse")
