#!/usr/bin/env python3
"""Makes tests/keras_layers/goldens/FAMILY.jsonl with real Keras (TensorFlow 2.15).

Each case of tests/keras_layers/cases/FAMILY.py is a layer with the shapes of its inputs. Written
down are its configuration as Keras saves it, weights, inputs, outputs, and the gradients of
sum(outputs * ramp) by inputs and weights. `--check` compares with what is checked in.
Usage: keras_layers.py [--check] [FAMILY ...]
"""
import importlib.util
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "..", "tests", "keras_layers")


def plain(x):
    x = np.asarray(x)
    values = x.astype(np.float64) if x.dtype.kind == "f" or x.dtype.name == "bfloat16" else x
    flat = [float("%.9g" % v) if values.dtype.kind == "f" else v.item() for v in values.ravel()]
    return {"shape": list(x.shape), "dtype": x.dtype.name, "data": flat}


def ramp(shape, dtype):
    """Different numbers of both signs: a gradient of each output of its own."""
    n = int(np.prod(shape))
    return tf.reshape(tf.cast(((np.arange(n) * 7) % 11 - 5) / 8.0, dtype), shape)


def make(case):
    """case: dict(name, layer, inputs=[shape or array], ...), and where wanted:

    training=True; list=True: one input, in a list; call={}: further arguments of the call;
    masks=[array or None]: of the inputs, given as `mask`; states=[shape]: `initial_state`;
    cell=True: a step, the inputs are x and the states;
    spread=True: the inputs are the arguments of the call; attention_mask=array.
    """
    tf.keras.backend.clear_session()
    rng = np.random.RandomState(case.get("seed", 1))
    layer = case["layer"]()
    inputs = []
    for i in case["inputs"]:
        inputs.append(tf.constant(i) if isinstance(i, np.ndarray)
                      else tf.constant((rng.rand(*i) * 2 - 1).astype(np.float32)))
    argument = inputs[0] if len(inputs) == 1 and not case.get("list") else inputs
    kwargs = dict(case.get("call", {}))
    masks = [m if m is None else tf.constant(m) for m in case.get("masks", [])]
    if masks and case.get("spread"):
        for x, m in zip(inputs, masks):
            if m is not None:
                x._keras_mask = m
    elif masks:
        kwargs["mask"] = masks[0] if len(inputs) == 1 else masks
    states = [tf.constant((rng.rand(*s) * 2 - 1).astype(np.float32)) for s in case.get("states", [])]
    if states:
        kwargs["initial_state"] = states
    if "attention_mask" in case:
        kwargs["attention_mask"] = tf.constant(case["attention_mask"])
    call = (lambda: layer(inputs[0], inputs[1:])) if case.get("cell") else \
        (lambda: layer(*inputs, **kwargs)) if case.get("spread") else \
        (lambda: layer(argument, **kwargs))
    if case.get("training"):
        kwargs["training"] = True
    call()
    if layer.weights and case.get("random_weights", True):
        layer.set_weights([np.asarray(rng.rand(*w.shape) * 1.5 - 0.5).astype(w.dtype.as_numpy_dtype)
                           if w.dtype.is_floating else w.numpy() for w in layer.weights])
    before = [plain(w.numpy()) for w in layer.weights]
    floats = [x for x in inputs if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        for x in floats:
            tape.watch(x)
        outputs = tf.nest.flatten(call())
        total = tf.add_n([tf.reduce_sum(o * ramp(o.shape, o.dtype)) for o in outputs
                          if o.dtype.is_floating])
    grads = tape.gradient(total, floats + layer.trainable_weights,
                          unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return {
        "name": case["name"],
        "layer": tf.keras.layers.serialize(layer),
        "training": bool(case.get("training")),
        "list": bool(case.get("list")),
        "call": case.get("call", {}),
        "masks": [None if m is None else plain(m.numpy()) for m in masks],
        "states": [plain(s.numpy()) for s in states],
        "attention_mask": plain(case["attention_mask"]) if "attention_mask" in case else None,
        "tolerance": case.get("tolerance", 1e-5),
        "inputs": [plain(x.numpy()) for x in inputs],
        "weights": before,
        "outputs": [plain(o.numpy()) for o in outputs],
        "input_gradients": [plain(tf.convert_to_tensor(g).numpy()) for g in grads[:len(floats)]],
        "weight_gradients": [plain(tf.convert_to_tensor(g).numpy()) for g in grads[len(floats):]],
        "weights_after": [plain(w.numpy()) for w in layer.weights] if case.get("training") else [],
    }


def main(arguments):
    check = "--check" in arguments
    wanted = [a for a in arguments if not a.startswith("--")]
    bad = 0
    for file in sorted(os.listdir(os.path.join(FOLDER, "cases"))):
        family, extension = os.path.splitext(file)
        if extension != ".py" or (wanted and family not in wanted):
            continue
        spec = importlib.util.spec_from_file_location(family, os.path.join(FOLDER, "cases", file))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        lines = [json.dumps(make(c), separators=(",", ":")) for c in module.CASES]
        path = os.path.join(FOLDER, "goldens", family + ".jsonl")
        text = "\n".join(lines) + "\n"
        if check:
            same = os.path.exists(path) and open(path).read() == text
            print("%-20s %3d cases %s" % (family, len(lines), "equal" if same else "DIFFER"))
            bad += not same
        else:
            with open(path, "w") as out:
                out.write(text)
            print("%-20s %3d cases, %d KB" % (family, len(lines), len(text) // 1024))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
