"""Trajectories of TensorFlow's optimizers: a variable after each of five steps.

    make_optimizer_goldens.py > rill/keras/optimizers/testdata/optimizers.txt

A line: name, then the four values after each step. Gradients are those of
gradient() below; rows_* apply them as IndexedSlices of rows 1, 0, 1.
"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

K = tf.keras.optimizers
V1 = tf.compat.v1.train


def gradient(step):
    return [[0.5 * (step + 1), -0.25], [1.0 - 0.5 * step, 2.0]]


def rows(step):
    g = gradient(step)
    values = [[0.5 * v for v in g[1]], g[0], [0.5 * v for v in g[1]]]
    return tf.IndexedSlices(tf.constant(values), tf.constant([1, 0, 1]), tf.constant([2, 2]))


def run(name, optimizer, sparse=False):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    out = []
    for step in range(5):
        g = rows(step) if sparse else tf.constant(gradient(step))
        optimizer.apply_gradients([(g, v)])
        out += [repr(float(x)) for x in v.numpy().reshape(-1)]
    print(name, *out)


for prefix, sparse in (("", False), ("rows_", True)):
    run(prefix + "SGD", K.SGD(0.1), sparse)
    run(prefix + "SGD_momentum", K.SGD(0.1, momentum=0.9), sparse)
    run(prefix + "SGD_nesterov", K.SGD(0.1, momentum=0.9, nesterov=True), sparse)
    run(prefix + "Adam", K.Adam(0.1), sparse)
    run(prefix + "Adam_amsgrad", K.Adam(0.1, amsgrad=True), sparse)
    run(prefix + "Adamax", K.Adamax(0.1), sparse)
    run(prefix + "Nadam", K.Nadam(0.1), sparse)
    run(prefix + "Adagrad", K.Adagrad(0.1), sparse)
    run(prefix + "Adadelta", K.Adadelta(0.1), sparse)
    run(prefix + "RMSprop", K.RMSprop(0.1), sparse)
    run(prefix + "RMSprop_centered", K.RMSprop(0.1, momentum=0.5, centered=True), sparse)
    run(prefix + "GradientDescentOptimizer", V1.GradientDescentOptimizer(0.1), sparse)
    run(prefix + "MomentumOptimizer", V1.MomentumOptimizer(0.1, 0.9), sparse)
    run(prefix + "MomentumOptimizer_nesterov", V1.MomentumOptimizer(0.1, 0.9, use_nesterov=True), sparse)
    run(prefix + "AdagradOptimizer", V1.AdagradOptimizer(0.1), sparse)
    run(prefix + "AdadeltaOptimizer", V1.AdadeltaOptimizer(0.1), sparse)
    run(prefix + "RMSPropOptimizer", V1.RMSPropOptimizer(0.1), sparse)
    run(prefix + "RMSPropOptimizer_centered", V1.RMSPropOptimizer(0.1, momentum=0.5, centered=True), sparse)
    run(prefix + "AdamOptimizer", V1.AdamOptimizer(0.1), sparse)
    run(prefix + "FtrlOptimizer", V1.FtrlOptimizer(0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.1), sparse)
run("Ftrl", K.Ftrl(0.1, l1_regularization_strength=0.1, l2_regularization_strength=0.1, l2_shrinkage_regularization_strength=0.1, beta=0.2))
