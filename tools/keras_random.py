"""Models drawn at random from the layers and settings of Keras: exchanged, predicted, trained.

    keras_random.py <keras_test> [COUNT [SEED]]

Keras draws COUNT models, saves each compiled with a sample and labels, and keras_test answers with its
prediction, the losses of five training steps, the prediction after them, and a file of its own that
Keras reads again. SEED and a case's number draw the same model again. Runs in the environment of Keras
2.15 and in that of the newest Keras. Prints what differs; any difference is an error.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# TensorFlow's oneDNN fails on some processors where Rill's runs.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
warnings.filterwarnings("ignore")
import numpy as np
import tensorflow as tf
import keras

L = keras.layers
NEW = keras.__version__.startswith("3")
STEPS = 5
TOKENS = 20  # at most a batch of 4, 5 tokens each
ACTIVATIONS = ["relu", "tanh", "sigmoid", "elu", "selu", "softplus", "softsign", "gelu", "swish", "hard_sigmoid",
               "linear", "exponential"]


class Draw:
    """One model: a graph of layers that starts at inputs of one kind."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.pick = self.r.choice
        self.maybe = lambda p=0.3: self.r.random() < p

    def some(self, **options):
        """A subset of options, so that defaults are met too."""
        return {k: v for k, v in options.items() if self.maybe(0.4)}

    def regularizer(self):
        return self.pick([keras.regularizers.L2(0.01), keras.regularizers.L1(0.005),
                          keras.regularizers.L1L2(0.003, 0.004), "l2"])

    def weights(self):
        return self.some(use_bias=self.maybe(0.5), kernel_regularizer=self.regularizer(),
                         kernel_initializer=self.pick(["he_normal", "glorot_normal", "lecun_uniform"]),
                         bias_initializer=self.pick(["ones", "zeros"]),
                         kernel_constraint=self.pick([keras.constraints.MaxNorm(1.5), keras.constraints.UnitNorm()]))

    def activation(self):
        return self.pick(ACTIVATIONS[:-1])

    def norm(self):
        return self.pick([
            lambda: L.BatchNormalization(**self.some(momentum=0.9, epsilon=0.01, scale=False, center=False)),
            lambda: L.LayerNormalization(**self.some(epsilon=0.01, scale=False, center=False)),
            lambda: L.UnitNormalization(), lambda: L.GroupNormalization(groups=1)])()

    # Of (batch, features).
    def vector_layer(self, x):
        return self.pick([
            lambda: L.Dense(self.r.randint(2, 8), **self.some(activation=self.activation()), **self.weights())(x),
            lambda: L.Activation(self.activation())(x),
            lambda: self.norm()(x),
            lambda: self.pick([L.ReLU(max_value=4.0, negative_slope=0.1, threshold=0.1), L.LeakyReLU(), L.ELU(), L.PReLU(),
                               L.Softmax()])(x),
            lambda: L.Dropout(0.0)(x),
            lambda: self.merge(x, L.Dense(x.shape[-1], activation=self.activation())(x)),
        ])()

    def merge(self, a, b):
        kind = self.pick(["Add", "Multiply", "Average", "Maximum", "Minimum", "Concatenate", "Subtract"])
        return getattr(L, kind)()([a, b])

    # Of (batch, height, width, channels).
    def image_layer(self, x):
        size = min(x.shape[1], x.shape[2])
        window = self.pick([k for k in (1, 2, 3) if k <= size])
        convolution = dict(padding=self.pick(["same", "valid"]), **self.some(activation=self.activation()))
        choices = [
            lambda: L.Conv2D(self.r.randint(1, 6), window, **convolution, **self.some(strides=2), **self.weights())(x),
            lambda: L.Conv2D(self.r.randint(1, 3) * 2, window, padding="same", dilation_rate=self.pick([1, 2]),
                             groups=2 if x.shape[-1] % 2 == 0 else 1)(x),
            lambda: L.DepthwiseConv2D(window, depth_multiplier=self.pick([1, 2]), **convolution)(x),
            lambda: L.SeparableConv2D(self.r.randint(1, 5), window, **convolution)(x),
            lambda: L.Conv2DTranspose(self.r.randint(1, 4), window, **convolution, **self.some(strides=2))(x),
            lambda: self.pick([L.MaxPooling2D, L.AveragePooling2D])(window, **self.some(strides=1, padding="same"))(x),
            lambda: L.UpSampling2D(2, **self.some(interpolation="bilinear"))(x) if size < 8 else L.ZeroPadding2D(1)(x),
            lambda: L.ZeroPadding2D(((1, 0), (0, 2)))(x),
            lambda: L.Cropping2D(((1, 0), (0, 1)))(x) if size > 3 else L.Activation(self.activation())(x),
            lambda: self.norm()(x),
            lambda: L.PReLU(shared_axes=[1, 2])(x),
            lambda: self.merge(x, L.Conv2D(x.shape[-1], 3, padding="same")(x)),
            lambda: L.Permute((2, 1, 3))(x),
            lambda: L.SpatialDropout2D(0.0)(x),
        ]
        return self.pick(choices)()

    def image_end(self, x):
        return self.pick([L.Flatten(), L.GlobalAveragePooling2D(), L.GlobalMaxPooling2D()])(x)

    # Of (batch, steps, features), perhaps with a mask.
    def recurrent(self, **options):
        kind = self.pick(["LSTM", "GRU", "SimpleRNN"])
        options.update(self.some(use_bias=False, go_backwards=True, kernel_regularizer=self.regularizer(),
                                 activation=self.pick(["tanh", "relu", "softsign"])))
        if kind != "SimpleRNN":
            options.update(self.some(recurrent_activation=self.pick(["sigmoid", "hard_sigmoid"])))
        if kind == "LSTM":
            options.update(self.some(unit_forget_bias=False))
        if kind == "GRU":
            options.update(self.some(reset_after=False))
        return getattr(L, kind)(self.r.randint(2, 5), **options)

    def sequence_layer(self, x):
        features = x.shape[-1]
        choices = [
            lambda: self.recurrent(return_sequences=True)(x),
            lambda: L.Bidirectional(self.pick([L.LSTM, L.GRU])(3, return_sequences=True),
                                    **self.some(merge_mode=self.pick(["sum", "ave", "mul"])))(x),
            lambda: L.TimeDistributed(L.Dense(self.r.randint(2, 5), activation=self.activation()))(x),
            lambda: L.Dense(self.r.randint(2, 5))(x),
            lambda: L.Conv1D(self.r.randint(2, 5), self.pick([1, 2, 3]), padding=self.pick(["same", "causal"]),
                             **self.some(activation=self.activation()))(x),
            lambda: L.SeparableConv1D(self.r.randint(2, 5), 3, padding="same")(x),
            lambda: L.LayerNormalization()(x),
            lambda: L.MultiHeadAttention(2, 3, **self.some(use_bias=False))(x, x),
            lambda: self.pick([L.Attention, L.AdditiveAttention])(**self.some(use_scale=True) if not NEW else {})([x, x]),
            lambda: L.Add()([x, L.Dense(features)(x)]),
            lambda: L.SpatialDropout1D(0.0)(x),
            lambda: L.RNN(L.StackedRNNCells([L.LSTMCell(3), L.GRUCell(2)]), return_sequences=True)(x),
        ]
        return self.pick(choices)()

    def sequence_end(self, x):
        return self.pick([lambda: self.recurrent()(x), lambda: L.GlobalAveragePooling1D()(x),
                          lambda: L.GlobalMaxPooling1D()(x), lambda: L.Bidirectional(L.LSTM(2))(x)])()

    def body(self):
        """Inputs, samples, and a (batch, features) tensor."""
        batch = self.pick([1, 3, 4])
        rng = np.random.default_rng(self.r.randint(0, 10**6))
        kind = self.pick(["vector", "image", "sequence", "tokens", "two"])
        uniform = lambda *shape: rng.uniform(-1, 1, (batch,) + shape).astype("float32")
        deep = self.r.randint(1, 4)
        if kind == "image":
            given = [uniform(self.r.randint(5, 8), self.r.randint(5, 8), self.pick([1, 2, 3]))]
        elif kind == "sequence":
            given = [uniform(self.r.randint(3, 6), self.r.randint(2, 5))]
        elif kind == "tokens":
            # Keras 3 squares the gradients of a row that occurs twice before it adds them, where
            # TensorFlow computes; not where JAX or PyTorch do. So no row occurs twice there.
            ids = rng.permutation(TOKENS) if NEW else rng.integers(0, TOKENS, batch * 5)
            given = [ids[:batch * 5].reshape(batch, 5).astype("int32")]
        else:
            given = [uniform(self.r.randint(2, 6)) for _ in range(2 if kind == "two" else 1)]
        inputs = [keras.Input(g.shape[1:], dtype=str(g.dtype), name=f"in{i}") for i, g in enumerate(given)]
        x = inputs[0]
        if kind == "image":
            for _ in range(deep):
                x = self.image_layer(x)
            x = self.image_end(x)
        elif kind in ("sequence", "tokens"):
            if kind == "tokens":
                x = L.Embedding(TOKENS, self.r.randint(2, 5), mask_zero=self.maybe(0.5))(x)
            elif self.maybe():
                x = L.Masking(0.5)(x)
            for _ in range(deep):
                x = self.sequence_layer(x)
            x = self.sequence_end(x)
        else:
            if kind == "two":
                x = L.Concatenate()([L.Dense(4, activation=self.activation())(inputs[0]), inputs[1]])
            for _ in range(deep):
                x = self.vector_layer(x)
        return inputs, given, x, rng

    def end(self, x, batch, rng):
        """Output, loss and labels that go together."""
        classes = self.r.randint(2, 4)
        losses = keras.losses
        probabilities = rng.dirichlet(np.ones(classes), batch).astype("float32")
        numbers = rng.integers(0, classes, (batch,)).astype("int32")
        bits = rng.integers(0, 2, (batch, classes)).astype("float32")
        any_number = rng.normal(size=(batch, classes)).astype("float32")
        smoothing = self.some(label_smoothing=0.1)
        activation, loss, labels = self.pick([
            (None, self.pick(["mse", "mae", "huber", "log_cosh", losses.Huber(0.5)]), any_number),
            ("softmax", losses.CategoricalCrossentropy(**smoothing), probabilities),
            (None, losses.CategoricalCrossentropy(from_logits=True, **smoothing), probabilities),
            ("softmax", self.pick(["sparse_categorical_crossentropy"]), numbers),
            (None, losses.SparseCategoricalCrossentropy(from_logits=True), numbers),
            ("sigmoid", self.pick(["binary_crossentropy", losses.BinaryFocalCrossentropy()]), bits),
            (None, losses.BinaryCrossentropy(from_logits=True, **smoothing), bits),
            ("softmax", "kl_divergence", probabilities),
            ("softplus", "poisson", np.abs(any_number)),
            ("tanh", self.pick(["hinge", "squared_hinge", "categorical_hinge"]), 2 * bits - 1),
            (None, losses.CosineSimilarity(axis=-1), any_number),
            ("softplus", self.pick(["mean_squared_logarithmic_error"]), np.abs(any_number)),
        ])
        return L.Dense(classes, activation=activation)(x), loss, labels

    def optimizer(self):
        o = keras.optimizers
        rate = 0.01
        if self.maybe(0.25):
            rate = self.pick([o.schedules.ExponentialDecay(0.02, 2, 0.8), o.schedules.CosineDecay(0.02, 10),
                              o.schedules.PiecewiseConstantDecay([2, 4], [0.03, 0.02, 0.01]),
                              o.schedules.InverseTimeDecay(0.02, 2, 0.5), o.schedules.PolynomialDecay(0.02, 8)])
        clip = self.pick([{}, {}, {"clipnorm": 0.5}, {"clipvalue": 0.1}, {"global_clipnorm": 0.7}])
        more = dict(clip, **self.some(weight_decay=0.004))
        return self.pick([
            lambda: o.SGD(rate, **self.some(momentum=0.9, nesterov=True), **more),
            lambda: o.Adam(rate, **self.some(amsgrad=True, epsilon=1e-4, beta_1=0.8), **more),
            lambda: o.RMSprop(rate, **self.some(centered=True, momentum=0.5, rho=0.8), **more),
            lambda: o.Adagrad(rate, **more), lambda: o.Adadelta(rate, **more), lambda: o.Adamax(rate, **more),
            # Keras 2 updates Nadam's product of momentums once per variable, and otherwise after loading.
            lambda: o.Nadam(rate, **more) if NEW else o.Adam(rate), lambda: o.Ftrl(rate, **self.some(l1_regularization_strength=0.01), **clip),
            lambda: o.AdamW(rate, **clip), lambda: o.Lion(rate, **more)])()

    def model(self):
        inputs, given, x, rng = self.body()
        y, loss, labels = self.end(x, given[0].shape[0], rng)
        model = keras.Model(inputs if len(inputs) > 1 else inputs[0], y)
        # Biases and scales that are not 0 and 1, so that an omission is seen.
        model.set_weights([w + rng.uniform(0, 0.1, w.shape).astype(w.dtype) if w.dtype.kind == "f" else w
                           for w in model.get_weights()])
        model.compile(optimizer=self.optimizer(), loss=loss)
        return model, given, labels


def tensor(a):
    return {"dtype": str(a.dtype), "shape": list(a.shape), "values": a.reshape(-1).tolist()}


def trained(model, x, labels, scale=1):
    if scale != 1:
        model.set_weights([w * np.float32(scale) if w.dtype.kind == "f" else w for w in model.get_weights()])
        x = x if len(x) > 1 else x[0]
    losses = [float(model.train_on_batch(x, labels)) for _ in range(STEPS)]
    return {"losses": losses, "after": np.asarray(model(x))}


def cases(folder, count, seed):
    number = made = 0
    while made < count:
        number += 1
        keras.backend.clear_session()
        name = f"{seed * 100000 + number}"
        keras.utils.set_random_seed(seed * 100000 + number)
        try:
            model, given, labels = Draw(seed * 100000 + number).model()
            file = name + (".h5" if not NEW and number % 3 == 0 else ".keras")
            model.save(os.path.join(folder, file))
            x = given if len(given) > 1 else given[0]
            want = {"outputs": [np.asarray(model(x))]}
            twin = keras.models.load_model(os.path.join(folder, file))
        except Exception as e:  # Keras itself does not build, write or read it
            print(f"  {name}: Keras: {str(e).splitlines()[0][:100] if str(e) else type(e)}", file=sys.stderr)
            continue
        want.update(trained(twin, x, labels))
        if not np.isfinite(want["after"]).all():
            continue
        # What Keras makes of a difference of 1e-6: an optimizer such as Adam turns a gradient of
        # about 0, as of a bias before a BatchNormalization, into a step of either sign.
        other = trained(keras.models.load_model(os.path.join(folder, file)),
                        [g * np.float32(1 + 1e-6) if g.dtype.kind == "f" else g for g in given], labels, 1 + 1e-6)
        want["noise"] = {k: float(np.abs(np.array(other[k]) - np.array(want[k])).max()) for k in ("losses", "after")}
        made += 1
        layers = ", ".join(type(l).__name__ for l in model.layers[1:])
        yield {"file": file, "inputs": [tensor(g) for g in given], "labels": [tensor(labels)], "steps": STEPS}, want, \
            f"{layers}; {type(model.optimizer).__name__}; {getattr(model.loss, 'name', model.loss)}"


def differs(got, want, tolerance):
    values = np.array([float(v) for v in got["values"]])
    if list(want.shape) != list(got["shape"]):
        return f"shape {got['shape']}, expected {list(want.shape)}"
    off = np.abs(values - want.reshape(-1)).max() if want.size else 0
    return "" if off <= tolerance * (1 + np.abs(want).max()) else f"{off:.2g} off"


def verdict(folder, case, answer, want):
    if "error" in answer:
        return "refused: " + answer["error"].replace("\n", " ")[:200]
    said = differs(answer["outputs"][0], want["outputs"][0], 2e-5)
    if said:
        return "WRONG prediction: " + said
    noise = want["noise"]
    if not np.allclose([float(v) for v in answer["losses"]], want["losses"], rtol=1e-4, atol=1e-5 + 10 * noise["losses"]):
        return f"WRONG losses: {answer['losses']}, expected {want['losses']}, noise {noise['losses']:.1g}"
    said = differs(answer["after"][0], want["after"], 3e-4 + 10 * noise["after"])
    if said:
        return f"WRONG after training: {said}, noise {noise['after']:.1g}"
    if "not_written" in answer:
        return "not written: " + answer["not_written"].replace("\n", " ")[:200]
    try:
        ours = keras.models.load_model(os.path.join(folder, answer["written"]), compile=False)
        x = [np.array(i["values"], i["dtype"]).reshape(i["shape"]) for i in case["inputs"]]
        said = differs(answer["after"][0], np.asarray(ours(x if len(x) > 1 else x[0])), 2e-5)
    except Exception as e:
        return "not read by Keras: " + str(e).replace("\n", " ")[:200]
    return "WRONG in Keras: " + said if said else ""


def main(keras_test, count=100, seed=1):
    with tempfile.TemporaryDirectory() as folder:
        asked = list(cases(folder, int(count), int(seed)))
        with open(folder + "/cases.json", "w") as f:
            json.dump([case for case, _, _ in asked], f)
        subprocess.run([keras_test, "--gtest_filter=KerasFunctions.*"], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, RILL_KERAS_FUNCTIONS=folder))
        with open(folder + "/answers.json") as f:
            verdicts = [verdict(folder, case, a, want) for a, (case, want, _) in zip(json.load(f), asked)]
    for (case, _, what), said in zip(asked, verdicts):
        if said:
            print(f"  {case['file']} ({what}):\n    {said}")
    bad = sum(v != "" for v in verdicts)
    print(f"Keras {keras.__version__}: {len(asked)} random models, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
