"""The same tasks in Rill and in the frameworks that are installed, in turns.

    bench_peers.py <build folder> [rounds] [--python PYTHON]... [--only PEER,...]

Each framework runs in its own process, with all cores; the rounds go
through them one after another and the fastest time of each counts. Prints one
row a task: microseconds, and how many times as long as Rill a peer takes.
Peers: NumPy, TensorFlow, PyTorch (eager; "compiled": its training steps by
torch.compile) and JAX (functions and gradients jitted), each from the first of
this Python, those given by --python, and the system's that has it.

RILL_BENCH_SAMPLES=1 takes one sample of each task: to see that all run.
"""
import argparse
import os
import subprocess
import sys
import time


def best(body, calls, samples):
    samples = int(os.environ.get("RILL_BENCH_SAMPLES", samples))
    body()
    fastest = 1e30
    for _ in range(samples):
        start = time.perf_counter()
        for _ in range(calls):
            body()
        fastest = min(fastest, (time.perf_counter() - start) / calls)
    return fastest


def report(name, calls, samples, body):
    print(name, best(body, calls, samples), flush=True)


def numpy_tasks():
    import numpy as np
    f = np.float32
    a, b = np.ones(1, f), np.ones(1, f)
    report("add_1", 2000, 30, lambda: np.add(a, b))
    m = np.random.rand(1000, 1000).astype(f)
    report("matmul_1000", 10, 8, lambda: m @ m)
    x, y = np.random.rand(16384, 1024).astype(f), np.random.rand(16384, 1024).astype(f)
    report("add_16m", 1, 12, lambda: np.add(x, y))
    report("exp_16m", 1, 12, lambda: np.exp(x))
    report("sum_rows_16m", 1, 12, lambda: x.sum(1))


def tensorflow_tasks():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    a, b = tf.constant([1.0]), tf.constant([2.0])
    report("add_1", 500, 20, lambda: tf.add(a, b))

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = tf.add(a, b)
        tape.gradient(y, a)
    report("add_1_gradient", 200, 20, gradient)
    x, y = tf.constant([0, .25, .5, .75, 1]), tf.constant([0, .3636, .5454, .8181, 1])
    w, c = tf.Variable(0.0), tf.Variable(0.0)
    sgd = tf.keras.optimizers.SGD(5e-4)

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(w * x + c - y))
        sgd.apply_gradients(zip(tape.gradient(loss, [w, c]), [w, c]))
    report("regression_step", 50, 10, step)
    m = tf.random.uniform([1000, 1000])
    report("matmul_1000", 10, 8, lambda: tf.matmul(m, m).numpy())
    x, y = tf.random.uniform([16384, 1024]), tf.random.uniform([16384, 1024])
    report("add_16m", 1, 12, lambda: tf.add(x, y))
    report("exp_16m", 1, 12, lambda: tf.exp(x))
    report("softmax_16m", 1, 12, lambda: tf.nn.softmax(x))
    report("sum_rows_16m", 1, 12, lambda: tf.reduce_sum(x, 1))
    x, k = tf.random.uniform([50, 14, 14, 32]), tf.random.uniform([5, 5, 32, 64])
    report("conv_50x14x14x32_64", 2, 10, lambda: tf.nn.conv2d(x, k, 1, "SAME"))

    def conv():
        with tf.GradientTape() as tape:
            tape.watch([x, k])
            y = tf.nn.conv2d(x, k, 1, "SAME")
        tape.gradient(y, [x, k])
    report("conv_with_gradients", 1, 10, conv)
    v, g = tf.Variable(tf.random.uniform([3270000])), tf.random.uniform([3270000])
    adam = tf.keras.optimizers.Adam(1e-3)
    report("adam_3.27m", 1, 15, lambda: adam.apply_gradients([(g, v)]))

    # Training steps as functions.
    def trained(variables, loss_of, optimizer):
        @tf.function
        def train():
            with tf.GradientTape() as tape:
                loss = loss_of()
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss
        return train

    def weights(*shape):
        return tf.Variable(tf.random.uniform(shape, -.05, .05))

    def cross_entropy(labels, logits):
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    rx, ry = tf.constant([0, .25, .5, .75, 1]), tf.constant([0, .3636, .5454, .8181, 1])
    rw, rc = tf.Variable(0.0), tf.Variable(0.0)
    report("regression_function", 100, 10, trained(
        [rw, rc], lambda: tf.reduce_sum(tf.square(rw * rx + rc - ry)), tf.keras.optimizers.SGD(5e-4)))
    labels = tf.range(50) % 10
    image = tf.random.uniform([50, 784])
    p = [weights(784, 100), weights(100), weights(100, 10), weights(10)]
    report("mlp_function", 20, 20, trained(p, lambda: cross_entropy(
        labels, tf.nn.relu(image @ p[0] + p[1]) @ p[2] + p[3]), tf.keras.optimizers.Adam(1e-3)))
    q = [weights(5, 5, 1, 32), weights(32), weights(5, 5, 32, 64), weights(64), weights(3136, 1024), weights(1024),
         weights(1024, 10), weights(10)]

    def cnn():
        h = tf.reshape(image, [50, 28, 28, 1])
        for kernel, bias in (q[0:2], q[2:4]):
            h = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(h, kernel, 1, "SAME") + bias), 2, 2, "VALID")
        return cross_entropy(labels, tf.nn.relu(tf.reshape(h, [50, 3136]) @ q[4] + q[5]) @ q[6] + q[7])
    report("cnn_function", 1, 20, trained(q, cnn, tf.keras.optimizers.Adam(1e-3)))
    sequence = tf.one_hot(tf.reshape(tf.range(2000) * 7 % 60, [40, 50]), 60)
    r = [weights(60, 1024), weights(256, 1024), weights(1024), weights(256, 60), weights(60)]

    def lstm():
        h = c = tf.zeros([50, 256])
        for t in range(40):
            i, f, g, o = tf.split(sequence[t] @ r[0] + h @ r[1] + r[2], 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        return cross_entropy(tf.range(50) * 13 % 60, h @ r[3] + r[4])
    report("lstm_function", 1, 15, trained(r, lstm, tf.keras.optimizers.Adam(1e-3)))


def torch_tasks():
    import torch
    torch.set_num_threads(os.cpu_count())
    a, b = torch.ones(1), torch.ones(1)
    report("add_1", 2000, 20, lambda: torch.add(a, b))
    r = torch.ones(1, requires_grad=True)
    report("add_1_gradient", 200, 20, lambda: torch.add(r, b).backward())
    x, y = torch.tensor([0, .25, .5, .75, 1]), torch.tensor([0, .3636, .5454, .8181, 1])
    w, c = torch.zeros((), requires_grad=True), torch.zeros((), requires_grad=True)
    sgd = torch.optim.SGD([w, c], lr=5e-4)

    def step():
        sgd.zero_grad()
        (w * x + c - y).square().sum().backward()
        sgd.step()
    report("regression_step", 100, 10, step)
    m = torch.rand(1000, 1000)
    report("matmul_1000", 10, 8, lambda: m @ m)
    x, y = torch.rand(16384, 1024), torch.rand(16384, 1024)
    report("add_16m", 1, 12, lambda: torch.add(x, y))
    report("exp_16m", 1, 12, lambda: torch.exp(x))
    report("softmax_16m", 1, 12, lambda: torch.softmax(x, 1))
    report("sum_rows_16m", 1, 12, lambda: x.sum(1))
    x = torch.rand(50, 32, 14, 14).to(memory_format=torch.channels_last)
    k = torch.rand(64, 32, 5, 5).to(memory_format=torch.channels_last)
    conv = torch.nn.functional.conv2d
    report("conv_50x14x14x32_64", 2, 10, lambda: conv(x, k, padding=2))
    xr, kr = x.requires_grad_(), k.requires_grad_()
    report("conv_with_gradients", 1, 10, lambda: conv(xr, kr, padding=2).sum().backward())
    v = torch.rand(3270000, requires_grad=True)
    v.grad = torch.rand(3270000)
    adam = torch.optim.Adam([v], lr=1e-3)
    report("adam_3.27m", 1, 15, adam.step)

    torch_steps(lambda function: function)


def torch_compiled_tasks():
    """The training steps by torch.compile; the optimizer too, as its guides do."""
    import torch
    torch.set_num_threads(os.cpu_count())
    torch_steps(torch.compile)


def torch_steps(made):
    import torch

    def trained(parameters, loss_of):
        optimizer = torch.optim.Adam(parameters, lr=1e-3)
        loss, update = made(loss_of), made(optimizer.step)

        def train():
            optimizer.zero_grad()
            loss().backward()
            update()
        return train
    nn, cross_entropy = torch.nn, torch.nn.functional.cross_entropy
    labels = torch.arange(50) % 10
    image = torch.rand(50, 784)
    mlp = nn.Sequential(nn.Linear(784, 100), nn.ReLU(), nn.Linear(100, 10))
    report("mlp_function", 20, 20, trained(mlp.parameters(), lambda: cross_entropy(mlp(image), labels)))
    cnn = nn.Sequential(nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2),
                        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(),
                        nn.Linear(1024, 10)).to(memory_format=torch.channels_last)
    picture = image.reshape(50, 1, 28, 28).to(memory_format=torch.channels_last)
    report("cnn_function", 1, 20, trained(cnn.parameters(), lambda: cross_entropy(cnn(picture), labels)))
    sequence = nn.functional.one_hot((torch.arange(2000) * 7 % 60).reshape(40, 50), 60).float()
    letters = torch.arange(50) * 13 % 60

    def recurrent(layer):
        out = nn.Linear(256, 60)
        return trained(list(layer.parameters()) + list(out.parameters()),
                       lambda: cross_entropy(out(layer(sequence)[0][-1]), letters))
    # PyTorch's fastest is its layer; Rill has the step written out, too.
    lstm = recurrent(nn.LSTM(60, 256))
    report("lstm_function", 1, 15, lstm)
    report("lstm_layer", 1, 15, lstm)
    report("gru_layer", 1, 15, recurrent(nn.GRU(60, 256)))


def jax_tasks():
    """Every task waits for its result: a call of JAX only queues the work."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    wait = jax.block_until_ready
    keys = iter(jax.random.split(jax.random.key(1), 32))

    def uniform(*shape, least=0., most=1.):
        return jax.random.uniform(next(keys), shape, minval=least, maxval=most)

    def weights(*shape):
        return uniform(*shape, least=-.05, most=.05)
    a, b = jnp.ones(1), jnp.ones(1)
    report("add_1", 2000, 20, lambda: wait(jnp.add(a, b)))
    slope = jax.jit(jax.grad(lambda v: jnp.add(v, b)[0]))
    report("add_1_gradient", 500, 20, lambda: wait(slope(a)))
    x, y = jnp.array([0, .25, .5, .75, 1]), jnp.array([0, .3636, .5454, .8181, 1])

    def squares(p):
        return jnp.sum(jnp.square(p[0] * x + p[1] - y))
    p = [jnp.zeros(()), jnp.zeros(())]

    def regression(p):
        return [v - 5e-4 * g for v, g in zip(p, jax.grad(squares)(p))]
    report("regression_step", 20, 10, lambda: wait(regression(p)))
    m = uniform(1000, 1000)
    report("matmul_1000", 10, 8, lambda: wait(m @ m))
    x16, y16 = uniform(16384, 1024), uniform(16384, 1024)
    report("add_16m", 1, 12, lambda: wait(jnp.add(x16, y16)))
    report("exp_16m", 1, 12, lambda: wait(jnp.exp(x16)))
    report("softmax_16m", 1, 12, lambda: wait(jax.nn.softmax(x16)))
    report("sum_rows_16m", 1, 12, lambda: wait(jnp.sum(x16, 1)))

    def conv(x, k):
        return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    xc, kc = uniform(50, 14, 14, 32), uniform(5, 5, 32, 64)
    jitted = jax.jit(conv)
    report("conv_50x14x14x32_64", 2, 10, lambda: wait(jitted(xc, kc)))

    @jax.jit
    def conv_back(x, k):
        out, back = jax.vjp(conv, x, k)
        return out, back(jnp.ones_like(out))
    report("conv_with_gradients", 1, 10, lambda: wait(conv_back(xc, kc)))

    # Adam by hand: JAX has no optimizers.
    def adam(p, g, m, v, t):
        m, v = .9 * m + .1 * g, .999 * v + .001 * jnp.square(g)
        rate = 1e-3 * jnp.sqrt(1 - .999 ** t) / (1 - .9 ** t)
        return p - rate * m / (jnp.sqrt(v) + 1e-7), m, v

    def running(step, state):
        """Calls it over and over; the state's memory is used again, as a variable's is."""
        step = jax.jit(step, donate_argnums=0)
        at = [state]

        def call():
            at[0] = wait(step(at[0]))
        return call
    big = uniform(3270000)
    report("adam_3.27m", 1, 15, running(
        lambda s: (*adam(s[0], big, s[1], s[2], s[3]), s[3] + 1),
        (uniform(3270000), jnp.zeros(3270000), jnp.zeros(3270000), jnp.ones(()))))
    report("regression_function", 100, 10, running(regression, p))

    def trained(p, loss_of):
        def step(state):
            p, m, v, t = state
            new = [adam(*each, t) for each in zip(p, jax.grad(loss_of)(p), m, v)]
            return [*map(list, zip(*new)), t + 1]
        return running(step, [p, [jnp.zeros_like(w) for w in p], [jnp.zeros_like(w) for w in p], jnp.ones(())])

    def cross_entropy(labels, logits):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))
    labels, image = jnp.arange(50) % 10, uniform(50, 784)
    report("mlp_function", 20, 20, trained(
        [weights(784, 100), weights(100), weights(100, 10), weights(10)],
        lambda p: cross_entropy(labels, jax.nn.relu(image @ p[0] + p[1]) @ p[2] + p[3])))

    def pool(h):
        return jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def cnn(p):
        h = image.reshape(50, 28, 28, 1)
        for kernel, bias in (p[0:2], p[2:4]):
            h = pool(jax.nn.relu(conv(h, kernel) + bias))
        return cross_entropy(labels, jax.nn.relu(h.reshape(50, 3136) @ p[4] + p[5]) @ p[6] + p[7])
    report("cnn_function", 1, 20, trained(
        [weights(5, 5, 1, 32), weights(32), weights(5, 5, 32, 64), weights(64), weights(3136, 1024), weights(1024),
         weights(1024, 10), weights(10)], cnn))
    sequence = jax.nn.one_hot((jnp.arange(2000) * 7 % 60).reshape(40, 50), 60)
    letters = jnp.arange(50) * 13 % 60

    def lstm(p):
        def one(carry, inputs):
            h, c = carry
            i, f, g, o = jnp.split(inputs @ p[0] + h @ p[1] + p[2], 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None
        zero = jnp.zeros((50, 256))
        (h, _), _ = jax.lax.scan(one, (zero, zero), sequence)
        return cross_entropy(letters, h @ p[3] + p[4])
    report("lstm_function", 1, 15, trained(
        [weights(60, 1024), weights(256, 1024), weights(1024), weights(256, 60), weights(60)], lstm))


# The module that each needs, and what it does.
PEERS = {"numpy": ("numpy", numpy_tasks), "tensorflow": ("tensorflow", tensorflow_tasks),
         "torch": ("torch", torch_tasks), "compiled": ("torch", torch_compiled_tasks), "jax": ("jax", jax_tasks)}


def version(python, module):
    """Of the module in that Python; empty when it cannot be imported."""
    done = subprocess.run([python, "-c", f"import {module}; print({module}.__version__)"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def measured(command):
    """Names and seconds, and what was said when the command failed."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    lines = [line.split() for line in done.stdout.splitlines()]
    said = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    return {line[0]: float(line[1]) for line in lines if len(line) == 2}, "".join(said)


def main():
    if sys.argv[1:2] == ["--peer"]:
        return PEERS[sys.argv[2]][1]()
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument("build")
    arguments.add_argument("rounds", nargs="?", type=int, default=3)
    arguments.add_argument("--python", action="append", default=[])
    arguments.add_argument("--only", type=lambda text: text.split(","), default=list(PEERS))
    options = arguments.parse_args()
    commands = {"rill": [os.path.join(options.build, "benchmarks/peers")]}
    pythons = [p for p in (sys.executable, *options.python, "/usr/bin/python3") if os.path.exists(p)]
    for peer in options.only:
        module = PEERS[peer][0]
        there = next(((p, v) for p in pythons if (v := version(p, module))), None)
        if there:
            commands[peer] = [there[0], __file__, "--peer", peer]
            print(f"{peer}: {module} {there[1]}, {there[0]}")
        else:
            print(f"{peer}: {module} is not installed here")
    figures, failures = {name: {} for name in commands}, {}
    for _ in range(options.rounds):
        for name, command in commands.items():
            times, failure = measured(command)
            if failure:
                failures[name] = failure
            for task, seconds in times.items():
                figures[name][task] = min(seconds, figures[name].get(task, 1e30))
    for name, failure in failures.items():
        print(f"{name} did not run to its end: {failure}")
    if not figures["rill"]:
        sys.exit("benchmarks/peers gave no figures; run make build first")
    print(f"{'task':24}" + f"{'rill':>12}" + "".join(f"{name:>24}" for name in commands if name != "rill"))
    for task, ours in figures["rill"].items():
        row = f"{task:24}{ours * 1e6:9.2f} us"
        for name in commands:
            if name != "rill":
                theirs = figures[name].get(task)
                row += f"{theirs * 1e6:12.2f} us {theirs / ours:6.1f} x" if theirs else f"{'-':>24}"
        print(row)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
