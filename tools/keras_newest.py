"""Models and weights between Rill and the newest Keras, both ways.

    keras_newest.py <keras_test> <goldens folder> [--update]

Theirs: Keras writes the models of make_models.py anew, and Rill's tests read them instead of those
that are checked in; --update checks them in. Ours: keras_test writes the same models, Keras loads
them, computes what Rill computes, and goes on training as Rill does. What the TensorBoard callback
writes is read by TensorBoard.
"""
import json
import os
import shutil
import tempfile

import keras_checks as checks
from keras_checks import check, goldens, near, run, update
import make_models as theirs
from make_models import keras
from tensorboard import program
from tensorboard.backend.event_processing import data_ingester, event_accumulator
from tensorboard.context import RequestContext
from tensorboard.data import provider as base_provider
from tensorboard.util import tensor_util

# Checked in beside every .keras, .json and expected.json: the rest differs little from these.
KEPT = ("graph.h5", "recurrent.h5", "hard.h5", "mixed.h5", "scaling.h5", "conv.weights.h5", "cells.weights.h5",
        "own.weights.h5", "lora.h5", "lora.weights.h5", "filters.h5", "pairs.h5", "scaled_pairs.h5")


def keras_reads(folder):
    with open(folder + "/expected.json") as f:
        expected = json.load(f)
    for name, want in expected.items():
        if name not in theirs.MODELS:
            continue
        x = theirs.MODELS[name]()[1]
        # As if the training had not stopped.
        got = theirs.results(keras.models.load_model(f"{folder}/{name}.keras"), x)
        for key in want:
            near(got[key], want[key], f"{name}.keras: {key}")
        # Keras 3 does not compile what it reads from HDF5, not even from its own files, when a loss has a short name.
        model = keras.models.load_model(f"{folder}/{name}.h5", compile=False, custom_objects=theirs.OF_APPLICATIONS)
        near(model.predict_on_batch(x).reshape(-1), want["before"], name + ".h5")
        model = keras.models.load_model(f"{folder}/{name}.keras", compile=False)
        for weight in model.weights:
            weight.assign(weight * 0)
        model.load_weights(f"{folder}/{name}.weights.h5")
        near(model.predict_on_batch(x).reshape(-1), want["before"], name + ".weights.h5")


def keras_reads_weights_of_own_classes(folder):
    with open(folder + "/expected.json") as f:
        want = json.load(f)["own"]["before"]
    model, x, _ = theirs.own()
    model(x)
    model.load_weights(folder + "/own.weights.h5")
    near(model.predict_on_batch(x).reshape(-1), want, "own.weights.h5")


def keras_reads_adapted_layers(folder):
    with open(folder + "/expected.json") as f:
        expected = json.load(f)
    for name, weights in (("lora", [0, 3, 4, 4, 0, 2]), ("filters", [0, 0, 4, 0, 4, 0, 3, 0, 2])):
        x = theirs.ADAPTED[name]()[1]
        got = theirs.results(keras.models.load_model(f"{folder}/{name}.keras"), x)
        for key, want in expected[name].items():
            near(got[key], want, f"{name}.keras: {key}")
        model = keras.models.load_model(f"{folder}/{name}.h5", compile=False)
        near(model.predict_on_batch(x).reshape(-1), expected[name + "_h5"]["before"], name + ".h5")
        check([len(l.weights) for l in model.layers] == weights, f"{name}.h5: {model.weights}")
        for weight in model.weights:
            weight.assign(weight * 0)
        model.load_weights(f"{folder}/{name}.weights.h5")
        near(model.predict_on_batch(x).reshape(-1), expected[name]["before"], name + ".weights.h5")


def tensorboard_shows(folder):
    """What the callback wrote, as TensorBoard's own reader and its server's data provider see it."""
    with open(folder + "/expected.json") as f:
        expected = json.load(f)
    board = program.TensorBoard()
    board.configure(argv=["tensorboard", "--logdir", folder + "/logs", "--reload_task", "blocking",
                          "--reload_interval", "0"])
    ingester = data_ingester.LocalDataIngester(board.flags)
    ingester.start()
    provider, context = ingester.data_provider, RequestContext()
    runs = provider.list_runs(context, experiment_id="")
    check(sorted(r.run_name for r in runs) == ["train", "validation"], str(runs))
    for run_name, prefix in (("train", ""), ("validation", "val_")):
        reader = event_accumulator.EventAccumulator(os.path.join(folder, "logs", run_name))
        reader.Reload()
        scalars = provider.read_scalars(context, experiment_id="", plugin_name="scalars", downsample=1000,
                                        run_tag_filter=base_provider.RunTagFilter(runs=[run_name]))[run_name]
        for metric in ("loss", "mae"):
            tag, want = "epoch_" + metric, expected[prefix + metric]
            check(tag in reader.Tags()["tensors"], f"{run_name}: {reader.Tags()}")
            near([float(tensor_util.make_ndarray(e.tensor_proto)) for e in reader.Tensors(tag)], want, f"{run_name}/{tag}")
            near([point.value for point in scalars[tag]], want, f"{run_name}/{tag} in the dashboard")
            check([point.step for point in scalars[tag]] == [0, 1, 2], f"{run_name}/{tag}: steps")
        print(f"keras_newest: TensorBoard shows {run_name}: {', '.join(sorted(scalars))}")


with tempfile.TemporaryDirectory() as temporary:
    theirs.FOLDER = temporary + "/theirs"
    theirs.main()
    if update:
        for name in os.listdir(theirs.FOLDER):
            if name.endswith((".keras", ".json", ".index", ".data-00000-of-00001")) or name in KEPT:
                shutil.copy(os.path.join(theirs.FOLDER, name), goldens)
    run("*Keras3Files*.*", RILL_KERAS3_GOLDENS=theirs.FOLDER)
    ours = temporary + "/ours"
    run("Keras3.RillWritesForKeras", RILL_KERAS3_OUT=ours)
    keras_reads(ours)
    keras_reads_weights_of_own_classes(ours)
    keras_reads_adapted_layers(ours)
    run("TensorBoardFiles.*", RILL_TENSORBOARD_OUT=temporary + "/board")
    tensorboard_shows(temporary + "/board")
print(f"keras_newest: {checks.checked} checks, Rill reads what Keras {keras.__version__} writes and the reverse")
