#!/usr/bin/env python3
"""Makes goldens of what Keras 3 has beyond Keras 2, with the newest Keras:

    tests/keras_losses_metrics/goldens/newer_losses.jsonl, newer_metrics.jsonl, newer_optimizers.jsonl,
        accumulating_optimizers.jsonl
    tests/keras_layers/goldens/newer.jsonl, of the cases in tests/keras_layers/newer_cases.py

`--check` compares with what is checked in.
"""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import keras
import numpy as np
import tensorflow as tf
from keras_layers import ramp
from keras_losses_metrics import jsonable, plain, random

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests")


def saved(x):
    return {"class_name": type(x).__name__, "config": jsonable(x.get_config())}


def losses():
    regions = ((random(1, 2, 4, 3) > 0.5).astype(np.float32), random(2, 2, 4, 3))
    embeddings = random(3, 6, 4) - 0.5
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    classes = (np.array([0, 1, 0, 2, 1, 0], np.int32), embeddings.astype(np.float32))
    L = keras.losses
    for loss, (y_true, y_pred), weights in (
            (L.Dice(), regions, [None]), (L.Dice(axis=[1, 2]), regions, [None, np.array([0.5, 2], np.float32)]),
            (L.Dice(axis=-1, reduction="sum"), regions, [None]), (L.Dice(axis=[1, 2], reduction=None), regions, [None]),
            (L.Tversky(), regions, [None]), (L.Tversky(alpha=0.2, beta=0.7, axis=[1, 2]), regions, [None]),
            (L.Circle(), classes, [None]), (L.Circle(gamma=16.0, margin=0.25, remove_diagonal=False), classes, [None]),
            (L.Circle(gamma=8.0, reduction="sum"), classes, [None])):
        calls = []
        for weight in weights:
            pred = tf.constant(y_pred)
            with tf.GradientTape() as tape:
                tape.watch(pred)
                value = loss(y_true, pred, sample_weight=weight)
            calls.append({"weight": None if weight is None else plain(weight), "value": plain(value.numpy()),
                          "gradient": plain(tape.gradient(value, pred).numpy())})
        config = saved(loss)
        if config["config"]["reduction"] is None:
            config["config"]["reduction"] = "none"
        yield {"loss": config, "y_true": plain(y_true), "y_pred": plain(y_pred), "calls": calls}


def metrics():
    M = keras.metrics
    classes = [(np.array(a, np.int64), np.array(b, np.int64)) for a, b in
               (([0, 1, 2, 1, 0], [0, 2, 2, 1, 1]), ([2, 2, 0, 5, -1], [2, 0, 0, 1, 0]))]
    bits = [((random(i, 2, 4) > 0.5).astype(np.float32), random(i + 1, 2, 4)) for i in (50, 52)]
    one_hot = [(np.eye(3, dtype=np.float32)[[0, 2, 1, 2]], random(i, 4, 3)) for i in (54, 55)]
    for metric, updates in ((M.IoU(3, [0, 2]), classes), (M.IoU(3, [0, 1], ignore_class=2), classes),
                            (M.MeanIoU(3), classes), (M.MeanIoU(3, dtype="int32"), classes),
                            (M.BinaryIoU(), bits), (M.BinaryIoU([1], 0.25), bits),
                            (M.OneHotIoU(3, [1, 2]), one_hot), (M.OneHotMeanIoU(3), one_hot)):
        done = []
        for i, (y_true, y_pred) in enumerate(updates):
            weight = np.arange(len(y_true), dtype=np.int64) if i and y_true.ndim == 1 else None
            metric.update_state(y_true, y_pred, sample_weight=weight)
            done.append({"arguments": [plain(y_true), plain(y_pred)], "weight": None if weight is None else plain(weight),
                         "result": plain(metric.result().numpy())})
        yield {"metric": saved(metric), "updates": done}


def optimizers():
    O = keras.optimizers
    for make in (lambda: O.Lamb(0.1), lambda: O.Lamb(0.05, beta_1=0.8, beta_2=0.9, epsilon=1e-3, weight_decay=0.1),
                 lambda: O.Lamb(0.1, clipnorm=0.5), lambda: O.Muon(0.1),
                 lambda: O.Muon(0.05, nesterov=False, rms_rate=None, ns_steps=3, momentum=0.8, weight_decay=None),
                 lambda: O.Muon(0.05, adam_lr_ratio=0.5, adam_weight_decay=0.1, adam_beta_1=0.7),
                 lambda: O.Muon(0.05, exclude_layers=["kern"]), lambda: O.Muon(0.05, muon_a=3.0, muon_b=-4.0, muon_c=2.0)):
        yield optimizer_case(make(), 4)


def accumulating():
    O = keras.optimizers
    three = dict(gradient_accumulation_steps=3)
    for make in (lambda: O.SGD(0.1, **three), lambda: O.SGD(0.1, momentum=0.9, nesterov=True, clipnorm=0.5, **three),
                 lambda: O.SGD(O.schedules.ExponentialDecay(0.2, 3, 0.5), **three),
                 lambda: O.Adam(0.05, clipvalue=0.2, weight_decay=0.1, gradient_accumulation_steps=2),
                 lambda: O.Adam(0.05, amsgrad=True, global_clipnorm=0.3, gradient_accumulation_steps=4),
                 lambda: O.AdamW(0.05, weight_decay=0.2, **three), lambda: O.Adamax(0.05, **three),
                 lambda: O.Nadam(0.05, **three), lambda: O.Adagrad(0.1, **three), lambda: O.Adadelta(0.5, **three),
                 lambda: O.RMSprop(0.05, momentum=0.5, centered=True, **three), lambda: O.Ftrl(0.1, **three),
                 lambda: O.Lion(0.05, **three), lambda: O.Adafactor(0.05, **three), lambda: O.Lamb(0.1, **three),
                 lambda: O.Muon(0.05, **three), lambda: O.SGD(0.1, use_ema=True, ema_momentum=0.8, **three),
                 lambda: O.SGD(0.1, use_ema=True, ema_momentum=0.7, ema_overwrite_frequency=2, **three),
                 lambda: O.Adam(0.1, use_ema=True, ema_momentum=0.7, ema_overwrite_frequency=1, **three)):
        yield optimizer_case(make(), 12)
    yield optimizer_case(O.SGD(0.1, momentum=0.9, **three), 12, missing=(2, 4))


def optimizer_case(optimizer, count, missing=()):
    """`missing`: the steps at which the bias has no gradient."""
    config = saved(optimizer)
    # As in the other goldens: the bias is never negative, and does not decay.
    kernel = keras.Variable(np.array([[1, -2], [3, 0.5]], np.float32), name="kernel")
    bias = keras.Variable(np.array([0.4, -0.3, 0.2], np.float32), name="bias")
    bias.constraint = keras.constraints.NonNeg()
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    optimizer.build([kernel, bias])
    steps = []
    for i in range(count):
        gradients = [random(20 + i, 2, 2) - 0.3, None if i in missing else random(30 + i, 3) - 0.5]
        optimizer.apply([None if g is None else tf.constant(g) for g in gradients], [kernel, bias])
        for v in (kernel, bias):
            if v.constraint is not None:
                v.assign(v.constraint(v))
        steps.append({"gradients": [None if g is None else plain(g) for g in gradients],
                      "values": [plain(v.numpy()) for v in (kernel, bias)]})
        if optimizer.gradient_accumulation_steps:
            steps[-1]["iterations"] = int(optimizer.iterations)
    optimizer.finalize_variable_values([kernel, bias])
    return {"optimizer": config, "steps": steps, "final": [plain(v.numpy()) for v in (kernel, bias)]}


def layer_case(case):
    """case: dict(name, layer, inputs=[shape or array], call={}: further arguments, spread=True: as arguments)."""
    keras.backend.clear_session()
    rng = np.random.RandomState(1)
    layer = case["layer"]()
    inputs = [tf.constant(i if isinstance(i, np.ndarray) else (rng.rand(*i) * 2 - 1).astype(np.float32))
              for i in case["inputs"]]
    kwargs = case.get("call", {})
    call = lambda: layer(*inputs, **kwargs) if case.get("spread") else \
        layer(inputs if len(inputs) > 1 else inputs[0], **kwargs)
    call()
    layer.set_weights([(rng.rand(*w.shape) * 1.5 - 0.5).astype(np.float32) for w in layer.weights])
    floats = [x for x in inputs if x.dtype.is_floating]
    weights = [w.value for w in layer.trainable_weights]
    with tf.GradientTape() as tape:
        for x in floats:
            tape.watch(x)
        outputs = tf.nest.flatten(call())
        total = tf.add_n([tf.reduce_sum(o * ramp(o.shape, o.dtype)) for o in outputs])
    grads = [plain(tf.convert_to_tensor(g).numpy()) for g in tape.gradient(
        total, floats + weights, unconnected_gradients=tf.UnconnectedGradients.ZERO)]
    return {"name": case["name"], "layer": jsonable(keras.layers.serialize(layer)), "training": False, "list": False,
            "call": kwargs, "masks": [], "states": [], "attention_mask": None, "tolerance": case.get("tolerance", 1e-5),
            "inputs": [plain(x.numpy()) for x in inputs], "weights": [plain(w.numpy()) for w in layer.weights],
            "outputs": [plain(o.numpy()) for o in outputs], "input_gradients": grads[:len(floats)],
            "weight_gradients": grads[len(floats):], "weights_after": []}


def layers():
    sys.path.insert(0, os.path.join(TESTS, "keras_layers"))
    import newer_cases
    for case in newer_cases.CASES:
        yield layer_case(case)


def main():
    bad = 0
    for path, family in (("keras_losses_metrics/goldens/newer_losses", losses),
                         ("keras_losses_metrics/goldens/newer_metrics", metrics),
                         ("keras_losses_metrics/goldens/newer_optimizers", optimizers),
                         ("keras_losses_metrics/goldens/accumulating_optimizers", accumulating),
                         ("keras_layers/goldens/newer", layers)):
        lines = [json.dumps(c, separators=(",", ":")) for c in family()]
        file, text = os.path.join(TESTS, path + ".jsonl"), "\n".join(lines) + "\n"
        if "--check" in sys.argv:
            same = os.path.exists(file) and open(file).read() == text
            print("%-20s %3d cases %s" % (family.__name__, len(lines), "equal" if same else "DIFFER"))
            bad += not same
        else:
            with open(file, "w") as out:
                out.write(text)
            print("%-20s %3d cases, %d KB" % (family.__name__, len(lines), len(text) // 1024))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
