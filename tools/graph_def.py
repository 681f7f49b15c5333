"""GraphDefs between Rill and TensorFlow, both ways.

    graph_def.py <graph_def_test binary> <goldens folder> [--update] [--only=<regex>]

Ours: the binary writes its graphs with inputs and results; TensorFlow runs each and
must give the same. What it accepted is kept in <goldens>/rill, with TensorFlow's own
results. Theirs: programs below are traced by TensorFlow and kept in
<goldens>/tensorflow; without --update those that are checked in are run again. Rill's
tests read both folders. Also compares the schemas of our ops with TensorFlow's.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

v1 = tf.compat.v1
FRACTIONS = {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-12, "complex128": 1e-12}


# ---- examples: "in x float32 2,3 1 2 3 4 5 6"

def read_tensor(words):
    dtype, dims, text = tf.as_dtype(words[0]), words[1], words[2:]
    shape = [] if dims == "-" else [int(d) for d in dims.split(",")]
    if dtype == tf.string:
        return np.array([bytes.fromhex(w[1:]) for w in text], dtype=object).reshape(shape)
    if dtype.is_complex:
        values = [complex(float(a), float(b)) for a, b in zip(text[::2], text[1::2])]
    elif dtype.is_integer or dtype == tf.bool:
        values = [int(w) for w in text]
    else:
        values = [float(w) for w in text]
    return np.array(values, dtype=dtype.as_numpy_dtype).reshape(shape)


def write_tensor(a):
    a = np.asarray(a)
    dtype = tf.as_dtype(tf.string if a.dtype == object or a.dtype.kind == "S" else a.dtype)
    dims = ",".join(str(d) for d in a.shape) or "-"
    if dtype == tf.string:
        text = ["x" + bytes(v).hex() for v in a.reshape(-1)]
    elif dtype.is_complex:
        text = [repr(float(p)) for v in a.reshape(-1) for p in (v.real, v.imag)]
    elif dtype.is_integer or dtype == tf.bool:
        text = [str(int(v)) for v in a.reshape(-1)]
    else:
        text = [repr(float(v)) for v in a.reshape(-1)]
    return " ".join([dtype.name, dims] + text)


def read_example(path):
    example = {"in": {}, "out": {}}
    for line in open(path):
        words = line.rstrip("\n").split(" ")
        example[words[0]][words[1]] = read_tensor(words[2:])
    return example


def write_example(path, inputs, outputs):
    with open(path, "w") as f:
        for kind, values in (("in", inputs), ("out", outputs)):
            for name, value in values.items():
                f.write(f"{kind} {name} {write_tensor(value)}\n")


def difference(a, b, values=True):
    """What differs, or an empty string."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} {a.shape} and {b.dtype} {b.shape}"
    if not values or a.size == 0:
        return ""
    if a.dtype == object or a.dtype.kind in "iub":
        return "" if (a == b).all() else f"{a} and {b}"
    tolerance = FRACTIONS.get(a.dtype.name, 1e-5)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    x, y = a.astype(wide), b.astype(wide)
    same = (np.abs(x - y) <= tolerance * np.maximum(1, np.abs(y))) | (x == y) | (np.isnan(x) & np.isnan(y))
    return "" if same.all() else f"{a} and {b}"


def tensor_name(name):
    return name if ":" in name else name + ":0"


def run_graph(path, inputs, output_names):
    """What TensorFlow makes of a GraphDef."""
    graph_def = tf.compat.v1.GraphDef()
    graph_def.ParseFromString(open(path, "rb").read())
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    with v1.Session(graph=graph) as session:
        feed = {tensor_name(n): a for n, a in inputs.items()}
        results = session.run([tensor_name(n) for n in output_names], feed)
    return {n: np.asarray(r, dtype=object) if isinstance(r, bytes) else np.asarray(r)
            for n, r in zip(output_names, results)}


# ---- programs that TensorFlow traces

def numbers(shape, scale=1.0, phase=0):
    n = int(np.prod(shape))
    k = (np.arange(n) * 37 + phase * 17 + 11) % 101
    return (scale * (k - 50) / 32).astype(np.float32).reshape(shape)


PROGRAMS = {}


def program(*inputs, frozen=False, specs=None):
    def add(f):
        PROGRAMS[f.__name__] = (f, inputs, frozen, specs)
        return f
    return add


@program(numbers([2, 3]), numbers([2, 3], 1, 1))
def arithmetic(x, y):
    return (x + y) * (x - y) / (tf.abs(y) + 1.0) - tf.math.squared_difference(x, -y)


@program(numbers([2, 1, 3]), numbers([4, 1], 1, 2), specs=[[None, 1, None], [None, 1]])
def broadcasting(x, y):
    return x * y + 1.0, tf.maximum(x, y), tf.broadcast_to(y, [4, 3])


@program(numbers([3, 4]))
def reductions(x):
    return (tf.reduce_sum(x, 1), tf.reduce_mean(x, 0, keepdims=True), tf.reduce_max(x), tf.reduce_min(x, -1),
            tf.reduce_prod(x, [0, 1]), tf.reduce_any(x > 1.0), tf.reduce_logsumexp(x, 1), tf.math.reduce_std(x))


@program(np.abs(numbers([6])) + 0.25)
def elementary(x):
    return tf.exp(x), tf.math.log1p(x), tf.sin(x), tf.tanh(x), tf.sigmoid(x), tf.math.erf(x), tf.math.rsqrt(x), x ** 1.5


@program(np.array([7, -7, 8, 100], np.int32), np.array([2, 3, -3, 7], np.int32))
def integers(x, y):
    return x // y, x % y, tf.truncatediv(x, y), tf.bitwise.bitwise_xor(x, y), tf.cast(x, tf.int64) * 3


@program(numbers([5]), numbers([5], 1, 3))
def comparison(x, y):
    return tf.where(x < y, x, y), tf.logical_and(x < y, x > 0.0), tf.logical_not(x >= y), tf.not_equal(x, y)


@program(numbers([3, 4]), numbers([5, 4], 1, 1), numbers([2, 3, 4], 1, 2))
def matmul(x, y, z):
    return tf.matmul(x, y, transpose_b=True), tf.matmul(z, z, transpose_b=True), tf.linalg.matvec(x, y[0])


@program(numbers([2, 3, 4]), numbers([4, 5], 1, 1))
def einsum(x, y):
    return tf.einsum("bij,jk->bik", x, y), tf.tensordot(x, y, 1)


@program(numbers([2, 6, 6, 3]), numbers([3, 3, 3, 4], 0.5), numbers([4]))
def convolution(x, kernel, bias):
    return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, kernel, 2, "SAME"), bias)), tf.nn.conv2d(x, kernel, 1, "VALID", dilations=2)


@program(numbers([1, 5, 5, 2]), numbers([3, 3, 2, 2], 0.5))
def depthwise(x, kernel):
    return tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "VALID"), tf.nn.conv2d_transpose(x, numbers([3, 3, 4, 2]), [1, 10, 10, 4], 2)


@program(numbers([2, 5, 5, 3]))
def pooling(x):
    return tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.nn.avg_pool2d(x, 3, 2, "SAME"), tf.reduce_mean(x, [1, 2])


@program(numbers([2, 3, 3, 4]), np.abs(numbers([4])) + 0.25, numbers([4]))
def batch_norm(x, scale, offset):
    y, mean, variance = v1.nn.fused_batch_norm(x, scale, offset, is_training=True)
    return y, mean, tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)


@program(numbers([3, 4]), np.array([0, 3, 1], np.int32))
def cross_entropy(logits, labels):
    return (tf.nn.softmax(logits), tf.nn.log_softmax(logits), tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits),
            tf.nn.softmax_cross_entropy_with_logits(tf.one_hot(labels, 4), logits))


@program(numbers([5, 3]), np.array([4, 0, 2], np.int32))
def gather_scatter(x, i):
    at = tf.expand_dims(i, 1)
    return tf.gather(x, i), tf.gather(x, i[:2] // 2, axis=1), tf.gather_nd(x, at), tf.scatter_nd(at, tf.gather(x, i), [6, 3]), tf.tensor_scatter_nd_update(x, at, tf.zeros([3, 3]))


@program(numbers([4, 5, 3]))
def slicing(x):
    return x[1], x[:, 1:4, -1], x[..., tf.newaxis], x[::-2], tf.slice(x, [1, 0, 0], [2, -1, 2]), tf.reverse(x, [2])


@program(numbers([4, 6]))
def pieces(x):
    a, b, c = tf.split(x, 3, 1)
    u = tf.unstack(x)
    return tf.concat([c, a], 0), tf.stack([u[3], u[1]]), tf.pad(b, [[1, 0], [0, 2]]), tf.tile(b, [1, 2]), tf.transpose(x), tf.split(x, [1, 3], 0)[1]


@program(numbers([3, 4]), specs=[[None, None]])
def dynamic_shape(x):
    s = tf.shape(x)
    return tf.reshape(x, [s[1], s[0]]), tf.zeros(s), tf.size(x), tf.range(s[0]), tf.fill([s[0]], 2.0)


@program(np.array([b"Ab c", b"", b"xyz"], object), np.array([b"1", b"22", b"333"], object))
def strings(x, y):
    return (tf.strings.join([x, y], "-"), tf.strings.length(x), tf.strings.upper(x), tf.strings.substr(y, 0, 1),
            tf.strings.regex_replace(x, "[a-z]", "<\\0>"), tf.strings.to_hash_bucket_fast(x, 1000), tf.strings.to_number(y), tf.strings.as_string(tf.strings.length(x)))


@program(numbers([2, 3], 3))
def cast(x):
    return (tf.cast(x, tf.int32), tf.cast(tf.cast(x, tf.int64), tf.bool), tf.cast(x, tf.float64), tf.cast(tf.cast(x, tf.float16), tf.float32),
            tf.cast(tf.cast(x, tf.bfloat16), tf.float32), tf.saturate_cast(x, tf.uint8))


@program(numbers([5, 2]), np.array([0, 0, 1, 3, 3], np.int32))
def segments(x, i):
    u = tf.unique(i)
    return tf.math.segment_sum(x, i), tf.math.unsorted_segment_max(x, i, 4), u.y, u.idx, tf.math.top_k(x[:, 0], 2).values, tf.cumsum(x, 0), tf.argmax(x, 1)


@program(numbers([3, 3]))
def linear_algebra(x):
    a = tf.matmul(x, x, transpose_b=True) + tf.eye(3)
    return tf.linalg.cholesky(a), tf.linalg.inv(a), tf.linalg.det(a), tf.linalg.solve(a, [[1.0], [2.0], [3.0]])


@program(numbers([2, 3]))
def random(x):
    return tf.random.uniform([2, 3], seed=7) + x, tf.random.normal([4], seed=3)


@program(np.abs(numbers([1, 3, 4, 2])))
def image(x):
    return tf.image.resize(x, [6, 8]), tf.image.resize(x, [2, 2], method="nearest"), tf.image.flip_left_right(x)


@tf.function
def inner(x):
    return tf.nn.relu(x) * 2.0


@tf.function
def middle(x, y):
    return inner(x), inner(x + y)


@program(numbers([3]), numbers([3], 1, 1))
def nested_calls(x, y):
    a, b = middle(x, y)
    return a - b


@program(numbers([3]), np.array(True))
def conditional(x, pred):
    return tf.cond(pred, lambda: (x + 1.0, tf.reduce_sum(x)), lambda: (x * 2.0, tf.reduce_max(x)))


@program(numbers([3]), np.array(1, np.int32))
def switch_case(x, i):
    return tf.switch_case(i, [lambda: x + 1.0, lambda: x * 10.0, lambda: -x])


@program(np.array(10, np.int32))
def fibonacci(n):
    return tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, a + b), (0, 0, 1))[1:]


@program(np.array([1, 2, 3, 4, 8, 9], np.int32))
def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


@program(numbers([4, 2]))
def map_and_scan(x):
    return tf.map_fn(lambda row: tf.reduce_sum(row) * row, x), tf.scan(lambda a, row: a * 0.5 + row, x, tf.zeros([2]))


@program(numbers([4, 3]), specs=[[None, None]])
def unknown_sizes(x):
    @tf.function
    def called(a):
        return tf.zeros_like(a) + a * tf.cast(tf.ones_like(a), tf.float32), tf.reduce_logsumexp(a)
    rows = tf.map_fn(lambda row: tf.reduce_logsumexp(row) * tf.ones_like(row) + tf.zeros_like(row), x)
    looped = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + tf.ones_like(a) - tf.zeros_like(a)), (0, x))[1]
    return (rows, looped) + tuple(called(x))


@program(numbers([4, 3]), np.array([True, False, False, True]), specs=[None, None])
def select_of_unknown_rank(x, y):
    all_of = tf.raw_ops.Select(condition=x > 0.0, x=x, y=-x)
    return tf.raw_ops.Select(condition=y, x=x, y=x * 10.0), all_of, tf.raw_ops.Select(condition=y[0], x=x, y=all_of)


@program(numbers([4, 3]), np.array([2, 0, 3], np.int32))
def tensor_lists(x, y):
    rows = tf.TensorArray(tf.float32, 4, element_shape=[3]).unstack(x)
    parts = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, tf.constant([1, 0, 3]))
    spread = tf.TensorArray(tf.float32, 4, element_shape=[3]).scatter(y, x[:3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        picked = tf.TensorArray(tf.float32, 4, element_shape=[3]).unstack(x).gather(y)
        joined = tf.TensorArray(tf.float32, 3, infer_shape=False, element_shape=[None, 3]).split(x, tf.constant([1, 0, 3])).concat()
        z = tf.reduce_sum(picked ** 2.0) + tf.reduce_sum(joined ** 3.0)
    return rows.gather(y), parts.concat(), parts.read(2), spread.stack(), tape.gradient(z, x)


@program(numbers([3]))
def gradients(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.tanh(x) * x)
    return y, tape.gradient(y, x)


def variable(shape, scale, name, phase=0):
    return tf.Variable(numbers(shape, scale, phase), name=name)


W1, B1 = variable([4, 8], 0.5, "dense/kernel"), variable([8], 1, "dense/bias")
W2, B2 = variable([8, 3], 0.5, "out/kernel", 2), variable([3], 1, "out/bias", 1)


@program(numbers([2, 4]), frozen=True, specs=[[None, 4]])
def mlp_frozen(x):
    return tf.nn.softmax(tf.matmul(tf.nn.relu(tf.matmul(x, W1) + B1), W2) + B2)


@program(numbers([3]), frozen=True)
def frozen_loop(x):
    return tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * 0.5 + B2), (0, x))[1]


# As the converter writes them by default: control flow lowered to Switch and Merge.

@program(numbers([3]), frozen="lowered")
def lowered_cond(x):
    return tf.cond(tf.reduce_sum(x) > 100.0, lambda: (x + B2, x[0]), lambda: (x * B2, x[1]))


@program(numbers([3]), frozen="lowered")
def lowered_cond_true(x):
    return tf.cond(tf.reduce_sum(x) < 100.0, lambda: (x + B2, x[0]), lambda: (x * B2, x[1]))


@program(np.bool_(True), frozen="lowered")
def lowered_constants(x):
    return tf.cond(x, lambda: 7.0, lambda: 9.0), tf.cond(x, lambda: 1, lambda: tf.cast(x, tf.int32) + 5)


@program(numbers([3]), np.int32(1), frozen="lowered")
def lowered_nested(x, y):
    return tf.cond(y > 0, lambda: tf.cond(y > 1, lambda: x + 1.0, lambda: x * B2), lambda: x - 1.0)


@program(numbers([3]), np.int32(2), frozen="lowered")
def lowered_switch_case(x, y):
    return tf.switch_case(y, [lambda: x + 1.0, lambda: x * 2.0, lambda: x - B2, lambda: x * x])


@program(numbers([3]), frozen="lowered")
def lowered_assert(x):
    tf.debugging.assert_less(x, 100.0)
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(x > -50.0), [x])]):
        return x * 2.0


@program(numbers([3]), frozen="lowered")
def lowered_loop(x):
    return tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.cond(i > 1, lambda: a * 0.5, lambda: a + B2)), (0, x))[1]


KERNEL, RECURRENT, BIAS = variable([3, 16], 0.3, "kernel"), variable([4, 16], 0.3, "recurrent", 5), variable([16], 0.1, "bias")


def lstm_cell(x, h, c):
    i, f, g, o = tf.split(tf.matmul(x, KERNEL) + tf.matmul(h, RECURRENT) + BIAS, 4, 1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c


@program(numbers([5, 2, 3]), frozen=True)
def lstm(x):
    outputs = tf.TensorArray(tf.float32, 5, element_shape=[2, 4])

    def body(t, h, c, outputs):
        h, c = lstm_cell(x[t], h, c)
        return t + 1, h, c, outputs.write(t, h)
    _, h, c, outputs = tf.while_loop(lambda t, *_: t < 5, body, (0, tf.zeros([2, 4]), tf.zeros([2, 4]), outputs))
    return outputs.stack(), h, c


def trace(f, inputs, frozen, specs):
    names = "xyzw"
    specs = specs or [a.shape for a in inputs]
    signature = [tf.TensorSpec(s, tf.string if a.dtype == object else tf.as_dtype(a.dtype), names[i])
                 for i, (a, s) in enumerate(zip(inputs, specs))]
    concrete = tf.function(f, input_signature=signature).get_concrete_function()
    if frozen:
        concrete = convert_variables_to_constants_v2(concrete, lower_control_flow=frozen == "lowered")
    return concrete.graph.as_graph_def(), [t.name for t in concrete.inputs], [t.name for t in concrete.outputs]


# Graphs of TensorFlow 1: variables frozen, loops and conditions of Switch, Merge and Enter.

V1_PROGRAMS = {}


def v1_program(*inputs):
    def add(f):
        V1_PROGRAMS["v1_" + f.__name__] = (f, inputs)
        return f
    return add


@v1_program(numbers([2, 4]))
def dense(x):
    w = v1.get_variable("w", initializer=numbers([4, 3], 0.5))
    b = v1.get_variable("b", initializer=numbers([3]))
    return [v1.nn.xw_plus_b(x, w, b), tf.nn.relu(v1.matmul(x, w)) + b]


@v1_program(numbers([3]), np.array(False))
def cond(x, pred):
    w = v1.get_variable("w", initializer=numbers([3], 2))
    y = v1.cond(pred, lambda: x + w, lambda: x * 2.0)
    z = v1.cond(tf.reduce_sum(y) > 0.0, lambda: [y, tf.constant(1)], lambda: [y - w, tf.constant(2)])
    return [y] + z


@v1_program(numbers([3]))
def loop(x):
    w = v1.get_variable("w", initializer=numbers([3], 0.25))
    i, a = v1.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * 0.5 + w), [tf.constant(0), x])
    return [i, a]


@v1_program(np.array([1, 2, 3, 4, 8, 9], np.int32))
def cond_in_loop(items):
    def body(i, s):
        v = tf.gather(items, i)
        return i + 1, v1.cond(v % 2 > 0, lambda: s, lambda: s + v)
    return v1.while_loop(lambda i, s: i < 6, body, [tf.constant(0), tf.constant(0)])


@v1_program(np.array(4, np.int32))
def loop_in_loop(n):
    def body(i, s):
        _, t = v1.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t + i * j), [tf.constant(0), tf.constant(0)])
        return i + 1, s + t
    return v1.while_loop(lambda i, s: i < n, body, [tf.constant(0), tf.constant(0)])


@v1_program(numbers([3]), np.array(True))
def cond_in_cond(x, p):
    return [v1.cond(p, lambda: v1.cond(x[0] > 0.0, lambda: x + 1.0, lambda: x - 1.0), lambda: x * 3.0)]


@v1_program(numbers([3]), np.array(3, np.int32))
def loop_in_cond(x, n):
    def looped():
        return v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2.0 + x), [tf.constant(0), x])[1]
    return [v1.cond(n > 2, looped, lambda: x)]


@v1_program(np.array([b"cat", b"", b"bird"], object), np.array([3, 4, 3], np.int64))
def lookup_tables(words, ids):
    names = v1.lookup.StaticHashTable(v1.lookup.KeyValueTensorInitializer(["cat", "dog"], [0, 1]), -1)
    with tf.control_dependencies([names.initializer]):
        found = names.lookup(words)
    counts = v1.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    with tf.control_dependencies([counts.insert(ids, tf.ones([3, 2]) * tf.cast(ids, tf.float32)[:, None])]):
        return [found, counts.lookup(ids + 1), counts.size()]


# Ops that parse Examples, of the versions before those of TensorFlow 2.

def feature(values):
    if not values:
        return tf.train.Feature()
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def features(**values):
    return tf.train.Features(feature={k: feature(v) for k, v in values.items()})


def record(**values):
    return tf.train.Example(features=features(**values)).SerializeToString()


def sequence_record(context, **lists):
    steps = {k: tf.train.FeatureList(feature=[feature(v) for v in rows]) for k, rows in lists.items()}
    return tf.train.SequenceExample(
        context=features(**context), feature_lists=tf.train.FeatureLists(feature_list=steps)).SerializeToString()


EXAMPLES = np.array([record(a=[1, 2, 3], b=[0.5, 1.5], c=[b"x"], d=[7, 8]),
                     record(b=[-1.0, 2.0], c=[b"y", b"zz"], d=[9]),
                     record(a=[4], c=[])], object)
SEQUENCES = np.array([sequence_record({"a": [1, 2], "b": [3.0]}, s=[[b"p"], [], [b"q", b"r"]], t=[[1, 2], [3, 4]]),
                      sequence_record({"a": [5]}, s=[[b"w"]], t=[], u=[[1.5]])], object)


@v1_program(EXAMPLES)
def parse_examples(x):
    several = tf.raw_ops.ParseExample(
        serialized=x, names=[], sparse_keys=["a", "c"], dense_keys=["b", "d"], sparse_types=[tf.int64, tf.string],
        dense_defaults=[[9.0, 8.0], tf.constant([-1], tf.int64)], dense_shapes=[[2], [None]])
    sparse = tf.raw_ops.ParseExample(serialized=x, names=[], sparse_keys=["a"], dense_keys=[],
                                     sparse_types=[tf.int64], dense_defaults=[], dense_shapes=[])
    one = tf.raw_ops.ParseSingleExample(
        serialized=x[0], num_sparse=1, sparse_keys=["c"], dense_keys=["b", "e"], sparse_types=[tf.string],
        dense_defaults=[tf.constant([], tf.float32), tf.constant([[3]], tf.int64)], dense_shapes=[[2], [1, 1]])
    return [t for op in (several, sparse, one) for group in op for t in group]


@v1_program(SEQUENCES)
def parse_sequences(x):
    batch = tf.raw_ops.ParseSequenceExample(
        serialized=x, debug_name=[], context_dense_defaults=[[4.0]], feature_list_dense_missing_assumed_empty=["u"],
        context_sparse_keys=["a"], context_dense_keys=["b"], feature_list_sparse_keys=["s"],
        feature_list_dense_keys=["t", "u"], Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1,
        Nfeature_list_dense=2, context_sparse_types=[tf.int64], feature_list_dense_types=[tf.int64, tf.float32],
        context_dense_shapes=[[1]], feature_list_sparse_types=[tf.string], feature_list_dense_shapes=[[2], [1]])
    one = tf.raw_ops.ParseSingleSequenceExample(
        serialized=x[1], feature_list_dense_missing_assumed_empty=["v", "t"], context_sparse_keys=["a"],
        context_dense_keys=["b"], feature_list_sparse_keys=["s"], feature_list_dense_keys=["u", "v"],
        context_dense_defaults=[[2.5]], debug_name="", context_sparse_types=[tf.int64],
        feature_list_dense_types=[tf.float32, tf.int64], context_dense_shapes=[[1]],
        feature_list_sparse_types=[tf.string], feature_list_dense_shapes=[[1], []])
    context, lists = v1.io.parse_single_sequence_example(
        x[0], {"a": tf.io.VarLenFeature(tf.int64)}, {"t": tf.io.FixedLenSequenceFeature([2], tf.int64)})
    tensors = [t for op in (batch, one) for group in op for t in group]
    return tensors + [context["a"].values, lists["t"]]


def trace_v1(name, f, inputs):
    v1.disable_control_flow_v2()
    try:
        graph = tf.Graph()
        with graph.as_default(), v1.variable_scope(name, use_resource=False), v1.Session() as session:
            places = [v1.placeholder(tf.as_dtype(a.dtype), a.shape, "xyzw"[i]) for i, a in enumerate(inputs)]
            outputs = [tf.identity(t) for t in f(*places)]
            session.run(v1.global_variables_initializer())
            frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), [t.op.name for t in outputs])
        return frozen, [t.name for t in places], [t.name for t in outputs]
    finally:
        v1.enable_control_flow_v2()


# ---- schemas

def default_text(attr):
    if not attr.HasField("default_value"):
        return "(none)"
    value = attr.default_value
    return {
        "bool": lambda: "true" if value.b else "false",
        "int": lambda: str(value.i),
        "float": lambda: f"{value.f:g}",
        "string": lambda: "'" + value.s.decode().replace("\n", "\\n") + "'",
        "type": lambda: tf.as_dtype(value.type).name if value.type else "(none)",
        "list(int)": lambda: "[" + ", ".join(str(i) for i in value.list.i) + "]",
    }.get(attr.type, lambda: "?")()


def check_schemas(binary):
    """Our ops are TensorFlow's: names, arguments, attributes and their defaults."""
    wrong = 0
    text = subprocess.run([binary, "--schemas"], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        op, kind, rest = line.split(" ", 2)
        theirs = op_def_registry.get(op)
        if theirs is None:
            print(f"op {op} is not TensorFlow's")
            wrong += 1
            continue
        if kind in ("in", "out"):
            args = theirs.input_arg if kind == "in" else theirs.output_arg
            expected = ", ".join(a.name for a in args)
        else:
            name, _, default = rest.partition(" = ")
            name = name.split(" ", 1)[0]
            found = [a for a in theirs.attr if a.name == name]
            if (op, name) == ("MaxPoolGradGrad", "explicit_paddings"):
                continue  # TensorFlow has no such padding there; ours is never written
            expected = f"{name} {found[0].type}" if found else "no such attribute"
            if found and default:
                expected += " = " + default_text(found[0])
            if default == "?":
                rest = expected  # empty lists, unknown shapes
        if rest != expected:
            print(f"op {op}: {kind} {rest}; TensorFlow: {expected}")
            wrong += 1
    return wrong


def main():
    binary, goldens = sys.argv[1], sys.argv[2]
    update = "--update" in sys.argv
    only = next((a[7:] for a in sys.argv if a.startswith("--only=")), ".*")
    wrong = 0
    ours, theirs = os.path.join(goldens, "rill"), os.path.join(goldens, "tensorflow")
    os.makedirs(ours, exist_ok=True)
    os.makedirs(theirs, exist_ok=True)
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, "--write=" + folder], check=True)
        for name in sorted(f[:-3] for f in os.listdir(folder) if f.endswith(".pb")):
            if not re.fullmatch(only, name):
                continue
            count += 1
            path = os.path.join(folder, name)
            example = read_example(path + ".txt")
            try:
                results = run_graph(path + ".pb", example["in"], list(example["out"]))
            except Exception as e:
                print(f"TensorFlow refuses {name}: {str(e)[:600]}")
                wrong += 1
                continue
            faults = [f"{n}: {d}" for n, a in example["out"].items() if (d := difference(results[n], a, name != "random"))]
            for fault in faults:
                print(f"{name}: TensorFlow and Rill differ: {fault}")
            wrong += bool(faults)
            kept = os.path.join(ours, name)
            if not faults and update:
                shutil.copyfile(path + ".pb", kept + ".pb")
                old = read_example(kept + ".txt") if os.path.exists(kept + ".txt") else None
                if not old or old["out"].keys() != results.keys() or any(difference(results[n], old["out"][n], name != "random") for n in results):
                    write_example(kept + ".txt", example["in"], results)
            elif not faults and (not os.path.exists(kept + ".pb") or open(kept + ".pb", "rb").read() != open(path + ".pb", "rb").read()):
                print(f"{name}: not the graph that is checked in; run with --update")
                wrong += 1
    print(f"{count} graphs of Rill ran in TensorFlow {tf.__version__}")
    if update:
        for name, (f, inputs, frozen, specs) in PROGRAMS.items():
            if re.fullmatch(only, name):
                keep(theirs, name, inputs, *trace(f, inputs, frozen, specs))
        for name, (f, inputs) in V1_PROGRAMS.items():
            if re.fullmatch(only, name):
                keep(theirs, name, inputs, *trace_v1(name, f, inputs))
    count = 0
    for name in sorted(f[:-3] for f in os.listdir(theirs) if f.endswith(".pb")):
        if not re.fullmatch(only, name):
            continue
        count += 1
        path = os.path.join(theirs, name)
        example = read_example(path + ".txt")
        results = run_graph(path + ".pb", example["in"], list(example["out"]))
        for n, a in example["out"].items():
            if d := difference(results[n], a, name != "random"):
                print(f"{name}: TensorFlow has changed its mind: {n}: {d}")
                wrong += 1
    print(f"{count} graphs of TensorFlow ran again")
    wrong += check_schemas(binary)
    return 1 if wrong else 0


def ops_of(graph_def):
    nodes = list(graph_def.node) + [n for f in graph_def.library.function for n in f.node_def]
    return sorted((n.op, len(n.input), n.attr["value"].SerializeToString() if n.op == "Const" else b"") for n in nodes)


def keep(folder, name, inputs, graph_def, input_names, output_names):
    """A graph of TensorFlow with what it computes; kept as it is when it says the same."""
    path = os.path.join(folder, name)
    if os.path.exists(path + ".pb"):
        old = v1.GraphDef()
        old.ParseFromString(open(path + ".pb", "rb").read())
        if ops_of(old) == ops_of(graph_def) and list(read_example(path + ".txt")["out"]) == output_names:
            return  # the same but for the numbers in names
    graph_def.library.ClearField("registered_gradients")
    graph_def.library.function.sort(key=lambda f: f.signature.name)  # else each time another order
    with open(path + ".pb", "wb") as f:
        f.write(graph_def.SerializeToString(deterministic=True))
    fed = dict(zip(input_names, inputs))
    write_example(path + ".txt", fed, run_graph(path + ".pb", fed, output_names))


if __name__ == "__main__":
    sys.exit(main())
