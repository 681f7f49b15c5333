#!/usr/bin/env python3
"""Makes tests/keras_losses_metrics/goldens/FAMILY.jsonl with real Keras (TensorFlow 2.15).

A line is a case: the object as Keras saves it, what it was called with, and what it gave.
`--check` compares with what is checked in. Usage: keras_losses_metrics.py [--check] [FAMILY ...]
"""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import numpy as np
import tensorflow as tf

K = tf.keras
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests",
                      "keras_losses_metrics", "goldens")


def plain(x):
    x = np.asarray(x)
    values = x.astype(np.float64) if x.dtype.kind == "f" else x
    flat = [float("%.9g" % v) if values.dtype.kind == "f" else v.item() for v in values.ravel()]
    return {"shape": list(x.shape), "dtype": x.dtype.name, "data": flat}


def jsonable(x):
    if isinstance(x, dict):
        return {k: jsonable(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [jsonable(v) for v in x]
    if isinstance(x, np.ndarray):
        return x.tolist()
    return x.item() if isinstance(x, np.generic) else x


def saved(x):
    config = x.get_config()
    if isinstance(config.get("learning_rate"), K.optimizers.schedules.LearningRateSchedule):
        config["learning_rate"] = saved(config["learning_rate"])
    return {"class_name": type(x).__name__, "config": jsonable(config)}


def random(seed, *shape):
    return np.random.RandomState(seed).rand(*shape).astype(np.float32)


# ---- data
REAL = (random(1, 4, 3) * 4 - 1, random(2, 4, 3) * 4 - 1)
POSITIVE = (random(3, 4, 3) * 3, random(4, 4, 3) * 3 + 0.1)
BITS = ((random(5, 4, 3) > 0.5).astype(np.float32), random(6, 4, 3))
LOGITS = (BITS[0], random(7, 4, 3) * 8 - 4)
ONE_HOT = (np.eye(3, dtype=np.float32)[[0, 2, 1, 2]], random(8, 4, 3) + 0.05)
ONE_HOT_LOGITS = (ONE_HOT[0], random(9, 4, 3) * 8 - 4)
SPARSE = (np.array([0, 2, 1, 2], np.int64), ONE_HOT[1])
SPARSE_LOGITS = (SPARSE[0], ONE_HOT_LOGITS[1])
COLUMN = (SPARSE[0].reshape(4, 1), ONE_HOT[1])
IMAGES = (np.array([[0, 2, 1], [1, 1, 2]], np.int32), random(10, 2, 3, 3) + 0.05)
WEIGHTS = np.array([0.5, 2, 0, 1.5], np.float32)


def losses():
    L = K.losses
    table = [(c, {}, REAL) for c in (L.MeanSquaredError, L.MeanAbsoluteError,
                                     L.MeanAbsolutePercentageError, L.LogCosh,
                                     L.CosineSimilarity, L.Huber)]
    table += [(c, {}, POSITIVE) for c in (L.MeanSquaredLogarithmicError, L.Poisson)]
    table += [(c, {}, BITS) for c in (L.Hinge, L.SquaredHinge, L.CategoricalHinge)]
    table += [
        (L.Huber, dict(delta=0.4), REAL), (L.CosineSimilarity, dict(axis=0), REAL),
        (L.KLDivergence, {}, (ONE_HOT[0] * 0.8 + 0.05, ONE_HOT[1] / 3)),
        (L.BinaryCrossentropy, {}, BITS), (L.BinaryCrossentropy, dict(from_logits=True), LOGITS),
        (L.BinaryCrossentropy, dict(label_smoothing=0.2, axis=0), BITS),
        (L.BinaryFocalCrossentropy, {}, BITS),
        (L.BinaryFocalCrossentropy, dict(from_logits=True, gamma=3.0), LOGITS),
        (L.BinaryFocalCrossentropy, dict(apply_class_balancing=True, alpha=0.4,
                                         label_smoothing=0.1), BITS),
        (L.CategoricalCrossentropy, {}, ONE_HOT),
        (L.CategoricalCrossentropy, dict(from_logits=True, label_smoothing=0.1), ONE_HOT_LOGITS),
        (L.CategoricalCrossentropy, dict(axis=0), BITS),
        (L.CategoricalFocalCrossentropy, {}, ONE_HOT),
        (L.CategoricalFocalCrossentropy, dict(from_logits=True, gamma=1.5, alpha=0.7,
                                              label_smoothing=0.1), ONE_HOT_LOGITS),
        (L.SparseCategoricalCrossentropy, {}, SPARSE),
        (L.SparseCategoricalCrossentropy, {}, COLUMN),
        (L.SparseCategoricalCrossentropy, dict(from_logits=True), SPARSE_LOGITS),
        (L.SparseCategoricalCrossentropy, {}, IMAGES),
        (L.SparseCategoricalCrossentropy, dict(ignore_class=2), SPARSE),
        (L.SparseCategoricalCrossentropy, dict(ignore_class=-1, from_logits=True),
         (np.array([0, -1, 1, -1], np.int64), ONE_HOT_LOGITS[1])),
        (L.SparseCategoricalCrossentropy, dict(ignore_class=1), IMAGES),
    ]
    for make, arguments, (y_true, y_pred) in table:
        for reduction in ("auto", "sum_over_batch_size", "sum", "none"):
            loss = make(reduction=reduction, **arguments)
            if "axis" in arguments and arguments["axis"] == 0:
                weights = [None, np.float32(0.5), WEIGHTS[:3]]
            elif y_true is IMAGES[0]:
                weights = [None, WEIGHTS[:2], random(11, 2, 3)]
            else:
                weights = [None, np.float32(0.5), WEIGHTS, WEIGHTS.reshape(4, 1)]
            calls = []
            for w in weights:
                p = tf.constant(y_pred)
                with tf.GradientTape() as tape:
                    tape.watch(p)
                    value = loss(tf.constant(y_true), p, sample_weight=w)
                calls.append({"weight": None if w is None else plain(w), "value": plain(value),
                              "gradient": plain(tape.gradient(value, p))})
            yield {"loss": saved(loss), "y_true": plain(y_true), "y_pred": plain(y_pred),
                   "calls": calls}


def metrics():
    M = K.metrics
    steps = (np.array([[0, 1, 1, 0], [1, 1, 0, 1]]).T.astype(np.float32),
             np.array([[0, .5, .3, .9], [.25, 1, .75, .5]]).T.astype(np.float32))
    pairs = [
        (M.MeanSquaredError, {}, REAL), (M.RootMeanSquaredError, {}, REAL),
        (M.MeanAbsoluteError, {}, REAL), (M.MeanAbsolutePercentageError, {}, REAL),
        (M.MeanSquaredLogarithmicError, {}, POSITIVE), (M.CosineSimilarity, {}, REAL),
        (M.CosineSimilarity, dict(axis=1), REAL), (M.LogCoshError, {}, REAL),
        (M.Poisson, {}, POSITIVE), (M.KLDivergence, {}, (ONE_HOT[0] * .8 + .05, ONE_HOT[1] / 3)),
        (M.MeanRelativeError, dict(normalizer=[1., 0., 3.]), (REAL[0], REAL[1])),
        (M.BinaryCrossentropy, {}, BITS),
        (M.BinaryCrossentropy, dict(from_logits=True, label_smoothing=0.1), LOGITS),
        (M.CategoricalCrossentropy, {}, ONE_HOT),
        (M.CategoricalCrossentropy, dict(from_logits=True, label_smoothing=.1), ONE_HOT_LOGITS),
        (M.SparseCategoricalCrossentropy, {}, SPARSE),
        (M.SparseCategoricalCrossentropy, dict(from_logits=True), SPARSE_LOGITS),
        (M.SparseCategoricalCrossentropy, dict(ignore_class=2), SPARSE),
        (M.Hinge, {}, BITS), (M.SquaredHinge, {}, BITS), (M.CategoricalHinge, {}, BITS),
        (M.Accuracy, {}, (np.array([1, 2, 3, 4]), np.array([0, 2, 3, 4]))),
        (M.BinaryAccuracy, {}, BITS), (M.BinaryAccuracy, dict(threshold=0.3), BITS),
        (M.CategoricalAccuracy, {}, ONE_HOT), (M.SparseCategoricalAccuracy, {}, SPARSE),
        (M.SparseCategoricalAccuracy, {}, COLUMN),
        (M.TopKCategoricalAccuracy, dict(k=2), ONE_HOT),
        (M.SparseTopKCategoricalAccuracy, dict(k=2), SPARSE),
    ]
    for c in (M.TruePositives, M.FalsePositives, M.TrueNegatives, M.FalseNegatives):
        pairs += [(c, {}, BITS), (c, dict(thresholds=[0.2, 0.6]), BITS),
                  (c, dict(thresholds=[0., 0.25, 0.5, 0.75, 1.]), steps),
                  (c, dict(thresholds=0.3), (BITS[0][:, 0], BITS[1][:, 0]))]
    for c in (M.Precision, M.Recall):
        pairs += [(c, {}, BITS), (c, dict(thresholds=[0.2, 0.6]), BITS),
                  (c, dict(top_k=2), ONE_HOT), (c, dict(class_id=1), BITS),
                  (c, dict(top_k=1, class_id=2, thresholds=0.1), ONE_HOT)]
    for c in (M.SensitivityAtSpecificity, M.SpecificityAtSensitivity, M.PrecisionAtRecall,
              M.RecallAtPrecision):
        name = {"S": "sensitivity", "P": "recall", "R": "precision"}[c.__name__[0]]
        if c is M.SensitivityAtSpecificity:
            name = "specificity"
        pairs += [(c, {name: 0.5}, BITS), (c, {name: 0.7, "num_thresholds": 1}, BITS),
                  (c, {name: 0.4, "num_thresholds": 5, "class_id": 1}, BITS)]
    for curve in ("ROC", "PR"):
        for method in ("interpolation", "minoring", "majoring"):
            own = dict(curve=curve, summation_method=method)
            pairs += [(M.AUC, own, BITS), (M.AUC, dict(num_thresholds=5, **own), steps),
                      (M.AUC, dict(multi_label=True, **own), BITS),
                      (M.AUC, dict(thresholds=[0.3, 0.4, 0.9], multi_label=True,
                                   label_weights=[1., 2., 0.5], **own), BITS)]
    pairs += [(M.AUC, dict(from_logits=True), LOGITS),
              (M.AUC, dict(thresholds=[0.2, 0.7], label_weights=[1., 2., 0.5]), BITS),
              (M.AUC, dict(num_labels=3, multi_label=True, num_thresholds=10), BITS)]
    classes = (np.array([0, 2, 1, 2]), np.array([0, 1, 1, 2]))
    pairs += [
        (M.MeanIoU, dict(num_classes=3), classes),
        (M.MeanIoU, dict(num_classes=4, ignore_class=1), classes),
        (M.MeanIoU, dict(num_classes=3, sparse_y_pred=False), SPARSE),
        (M.IoU, dict(num_classes=3, target_class_ids=[0, 2]), classes),
        (M.IoU, dict(num_classes=3, target_class_ids=[1], ignore_class=7),
         (np.array([0, 7, 1, 2]), classes[1])),
        (M.BinaryIoU, {}, (BITS[0][:, 0], BITS[1][:, 0])),
        (M.BinaryIoU, dict(target_class_ids=[1], threshold=0.3), (BITS[0][:, 0], BITS[1][:, 0])),
        (M.OneHotIoU, dict(num_classes=3, target_class_ids=[0, 2]), ONE_HOT),
        (M.OneHotMeanIoU, dict(num_classes=3), ONE_HOT),
        (M.F1Score, {}, ONE_HOT), (M.F1Score, dict(average="micro", threshold=0.4), BITS),
        (M.FBetaScore, dict(beta=2.0, average="weighted", threshold=0.3), BITS),
        (M.FBetaScore, dict(beta=0.5, average="macro"), ONE_HOT),
        (M.R2Score, {}, REAL), (M.R2Score, dict(class_aggregation=None), REAL),
        (M.R2Score, dict(class_aggregation="variance_weighted_average", num_regressors=2), REAL),
    ]
    for make, arguments, (y_true, y_pred) in pairs:
        tf.keras.backend.clear_session()
        metric = make(**arguments)
        config = saved(metric)
        updates = []
        half = len(y_true) // 2
        for part, w in ((slice(None), None), (slice(half, None), WEIGHTS[half:]),
                        (slice(0, half), WEIGHTS[half:])):
            metric.update_state(y_true[part], y_pred[part], sample_weight=w)
            updates.append({"arguments": [plain(y_true[part]), plain(y_pred[part])],
                            "weight": None if w is None else plain(w),
                            "result": plain(metric.result())})
        yield {"metric": config, "updates": updates}
    values = [(np.float32(0), None), (np.float32(5), None),
              (np.array([8, 9], np.float32), None), (random(20, 3), random(21, 3)),
              (random(22, 3, 2), random(23, 3)), (random(24, 3, 2, 2), random(25, 3)),
              (random(26, 3), np.float32(2))]
    cube = [(random(30 + i, 3, 2), w) for i, w in enumerate(
        (None, random(40, 3), random(41, 3, 2), np.float32(0.5)))]
    for metric, list_ in ((M.Mean(name="mean"), values), (M.Sum(name="sum"), values),
                          (M.MeanTensor(name="mean_tensor"), cube),
                          (M.MeanTensor(name="mean_tensor", shape=(3, 2)), cube)):
        config = saved(metric)
        if metric._built if isinstance(metric, M.MeanTensor) else False:
            config["config"]["shape"] = [3, 2]
        updates = []
        for v, w in list_:
            metric.update_state(v, sample_weight=w)
            updates.append({"arguments": [plain(v)], "weight": None if w is None else plain(w),
                            "result": plain(metric.result())})
        yield {"metric": config, "updates": updates}


def regularizers():
    R = K.regularizers
    for r in (R.L1(), R.L1(0.3), R.L2(), R.L2(0.2), R.L1L2(0.1, 0.2), R.L1L2(),
              R.OrthogonalRegularizer(), R.OrthogonalRegularizer(0.5, mode="columns")):
        yield function_case("regularizer", saved(r), r, random(50, 4, 3) * 2 - 1)


def constraints():
    C = K.constraints
    for c in (C.MaxNorm(), C.MaxNorm(0.7, axis=1), C.MinMaxNorm(0.5, 0.8, rate=0.6, axis=0),
              C.MinMaxNorm(), C.NonNeg(), C.UnitNorm(), C.UnitNorm(axis=1)):
        yield function_case("constraint", saved(c), c, random(51, 4, 3) * 2 - 1)
    for n in (2, 3, 4, 5, 6):
        yield function_case("constraint", saved(C.RadialConstraint()), C.RadialConstraint(),
                            random(52, n, n, 2, 1), gradient=False)


def activations():
    x = np.concatenate([random(53, 5, 4) * 8 - 4, np.array([[-1, 0, 1, 30], [-30, 2.5, -2.5, .5]],
                                                           np.float32)])
    for name in ("linear", "relu", "sigmoid", "hard_sigmoid", "tanh", "softmax", "softplus",
                 "softsign", "elu", "selu", "gelu", "exponential", "swish", "silu", "mish"):
        yield function_case("activation", name, K.activations.get(name), x)


def function_case(kind, config, f, x, gradient=True):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
        n = int(np.prod(y.shape))
        ramp = tf.reshape(tf.constant(((np.arange(n) * 7) % 11 - 5) / 8.0, tf.float32), y.shape)
        total = tf.reduce_sum(y * ramp) + 0 * tf.reduce_sum(x)
    return {kind: config, "x": plain(x), "y": plain(y),
            "gradient": plain(tape.gradient(total, x)) if gradient else None}


def saturated():
    """In a function Keras looks through a softmax or sigmoid to the logits behind it."""
    x = np.array([[1, 2], [-1, 3], [0.5, -2]], np.float32)
    w = np.array([[40, 0, -30], [90, -60, 5]], np.float32)
    for name, labels, activation in (
            ("categorical_crossentropy", ONE_HOT[0][1:], tf.nn.softmax),
            ("sparse_categorical_crossentropy", SPARSE[0][1:], tf.nn.softmax),
            ("binary_crossentropy", BITS[0][1:], tf.nn.sigmoid)):
        v = tf.Variable(w)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = K.losses.get(name)(tf.constant(labels), activation(tf.matmul(x, v)))
            return loss, tape.gradient(loss, v)
        value, gradient = step()
        yield {"loss": name, "x": plain(x), "w": plain(w), "y_true": plain(labels),
               "value": plain(value), "gradient": plain(gradient)}


def optimizers():
    """Ten steps of two variables, the second with a constraint and left out of weight decay."""
    O = K.optimizers
    plain_ones = [
        (O.SGD, dict(learning_rate=0.1)), (O.SGD, dict(learning_rate=0.1, momentum=0.9)),
        (O.SGD, dict(learning_rate=0.1, momentum=0.9, nesterov=True)),
        (O.Adam, dict(learning_rate=0.1)), (O.Adam, dict(learning_rate=0.1, amsgrad=True)),
        (O.AdamW, dict(learning_rate=0.1)), (O.Adamax, dict(learning_rate=0.1)),
        (O.Nadam, dict(learning_rate=0.1)), (O.Adagrad, dict(learning_rate=0.1)),
        (O.Adadelta, dict(learning_rate=0.1)), (O.RMSprop, dict(learning_rate=0.1)),
        (O.RMSprop, dict(learning_rate=0.1, momentum=0.5, centered=True)),
        (O.Ftrl, dict(learning_rate=0.1, l1_regularization_strength=0.1, beta=0.2)),
        (O.Lion, dict(learning_rate=0.1)), (O.Adafactor, dict(learning_rate=0.4)),
        (O.Adafactor, dict(learning_rate=0.1, relative_step=False, clip_threshold=0.6)),
    ]
    more = [{}, dict(clipnorm=0.7, weight_decay=0.05), dict(clipvalue=0.3),
            dict(global_clipnorm=0.9, weight_decay=0.1),
            dict(use_ema=True, ema_momentum=0.8),
            dict(use_ema=True, ema_momentum=0.6, ema_overwrite_frequency=3, weight_decay=0.01)]
    rates = [K.optimizers.schedules.ExponentialDecay(0.2, 3, 0.5, staircase=True)]
    cases = [(make, {**own, **extra}) for make, own in plain_ones for extra in more]
    cases += [(make, {**own, "learning_rate": rates[0]}) for make, own in plain_ones]
    for make, arguments in cases:
        optimizer = make(**arguments)
        a = tf.Variable([[1., -2.], [3., 0.5]], name="kernel")
        b = tf.Variable([0.4, -0.3, 0.2], name="bias", constraint=K.constraints.NonNeg())
        optimizer.exclude_from_weight_decay(var_names=["bias"])
        steps = []
        for i in range(10):
            ga, gb = random(60 + i, 2, 2) * 4 - 2, random(80 + i, 3) * 2 - 1
            optimizer.apply_gradients([(tf.constant(ga), a), (tf.constant(gb), b)])
            steps.append({"gradients": [plain(ga), plain(gb)],
                          "values": [plain(a.numpy()), plain(b.numpy())]})
        config = saved(optimizer)
        if "use_ema" in arguments:
            optimizer.finalize_variable_values([a, b])
        yield {"optimizer": config, "steps": steps, "final": [plain(a.numpy()), plain(b.numpy())]}


def loss_scale():
    """Ten steps with a scale, of which some have gradients that are not finite."""
    O = K.optimizers
    for inner, arguments in (
            (O.SGD(0.1, momentum=0.9), dict(initial_scale=8., dynamic_growth_steps=2)),
            (O.Adam(0.1), dict(initial_scale=2., dynamic_growth_steps=3)),
            (O.Adamax(0.1, weight_decay=0.01), dict(initial_scale=0.5, dynamic_growth_steps=4)),
            (O.RMSprop(0.1, momentum=0.5, centered=True, clipnorm=0.5), {}),
            (O.Adagrad(0.1, use_ema=True, ema_overwrite_frequency=2),
             dict(initial_scale=3e38, dynamic_growth_steps=1)),
            (O.SGD(0.1), dict(dynamic=False, initial_scale=16.))):
        optimizer = K.mixed_precision.LossScaleOptimizer(inner, **arguments)
        a = tf.Variable([[1., -2.], [3., 0.5]], name="kernel")
        b = tf.Variable([0.4, -0.3, 0.2], name="bias")
        steps = []
        for i in range(10):
            bad = optimizer.dynamic and i in (0, 3, 6, 7)
            ga, gb = random(60 + i, 2, 2) * 4 - 2, random(80 + i, 3) * 2 - 1
            unscaled = [tf.constant(ga), tf.constant(gb) * (np.inf if bad else 1.)]
            optimizer.apply_gradients(zip(unscaled, [a, b]))
            steps.append({"gradients": [plain(ga), plain(gb)], "bad": bad,
                          "values": [plain(a.numpy()), plain(b.numpy())],
                          "scale": plain(optimizer.loss_scale.numpy()),
                          "good_steps": int(optimizer.dynamic_counter.numpy()) if optimizer.dynamic
                          else None,
                          "iterations": int(optimizer.iterations.numpy())})
        three = [tf.constant([3., np.inf]), None,
                 tf.IndexedSlices(tf.constant([[8.]]), tf.constant([1]), tf.constant([2, 1]))]
        halves = optimizer.get_unscaled_gradients(three)
        yield {"optimizer": saved(optimizer), "steps": steps,
               "scaled": plain(optimizer.get_scaled_loss(tf.constant(0.5)).numpy()),
               "unscaled": plain(halves[0].numpy()[:1]), "rows": plain(halves[2].values.numpy())}


def mixed_fit():
    """Steps of a model of policy mixed_float16; the third batch is too large for float16."""
    K.mixed_precision.set_global_policy("mixed_float16")
    for optimizer, arguments in ((K.optimizers.SGD(0.0625), {}),
                                 (K.optimizers.Adam(0.0625),
                                  dict(initial_scale=1024., dynamic_growth_steps=2))):
        if arguments:
            optimizer = K.mixed_precision.LossScaleOptimizer(optimizer, **arguments)
        model = K.Sequential([K.layers.Dense(3, activation="relu", input_shape=(2,)),
                              K.layers.Dense(1, dtype="float32")])
        model.set_weights([np.array([[0.5, -0.25, 1.], [1., 0.75, -0.5]]), np.array([0., 0.5, 0.25]),
                           np.array([[1.], [-0.5], [0.25]]), np.array([0.125])])
        model.compile(optimizer, "mse")
        steps = []
        for i in range(6):
            x = np.round(random(100 + i, 4, 2) * 8 - 4) / 2 * (20000. if i == 2 else 1.)
            y = np.round(random(120 + i, 4, 1) * 4) / 4
            loss = model.train_on_batch(x, y, reset_metrics=True)
            steps.append({"x": plain(x.astype(np.float32)), "y": plain(y),
                          "loss": None if not np.isfinite(loss) else float(loss),
                          "weights": [plain(w) for w in model.get_weights()],
                          "scale": float(model.optimizer.loss_scale.numpy()),
                          "iterations": int(model.optimizer.iterations.numpy())})
        yield {"optimizer": saved(optimizer), "steps": steps}
    K.mixed_precision.set_global_policy("float32")


def schedules():
    S = K.optimizers.schedules
    for s in (S.ExponentialDecay(0.1, 10, 0.7), S.ExponentialDecay(0.1, 10, 0.7, staircase=True),
              S.InverseTimeDecay(0.1, 10, 0.5), S.InverseTimeDecay(0.1, 4, 2., staircase=True),
              S.PiecewiseConstantDecay([5, 12], [1.0, 0.5, 0.1]),
              S.PolynomialDecay(0.1, 10, 0.01), S.PolynomialDecay(0.1, 10, 0.01, power=2.),
              S.PolynomialDecay(0.1, 7, 0.01, power=0.5, cycle=True), S.CosineDecay(0.1, 20),
              S.CosineDecay(0.1, 20, alpha=0.2, warmup_target=0.4, warmup_steps=5),
              S.CosineDecayRestarts(0.1, 7), S.CosineDecayRestarts(0.1, 6, t_mul=1.0, m_mul=0.8),
              S.CosineDecayRestarts(0.1, 5, t_mul=1.5, m_mul=0.9, alpha=0.1)):
        steps = np.array([0, 1, 3, 5, 6, 8, 11, 12, 13, 20, 26, 40], np.int64)
        yield {"schedule": saved(s), "steps": plain(steps),
               "rates": plain(np.array([s(tf.constant(i)).numpy() for i in steps], np.float32))}


FAMILIES = dict(losses=losses, saturated=saturated, optimizers=optimizers, loss_scale=loss_scale, mixed_fit=mixed_fit, schedules=schedules, metrics=metrics, regularizers=regularizers,
                constraints=constraints, activations=activations)


def main(arguments):
    check = "--check" in arguments
    wanted = [a for a in arguments if not a.startswith("--")] or list(FAMILIES)
    bad = 0
    for family in wanted:
        lines = [json.dumps(c, separators=(",", ":")) for c in FAMILIES[family]()]
        path = os.path.join(FOLDER, family + ".jsonl")
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
