"""The networks of benchmarks/cuda/networks.cc in PyTorch (CUDA graphs, torch.compile) and JAX:
milliseconds a training step, the median of several runs. What is not installed is left out."""
import os
import statistics
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch needs memory too


def median_ms(step, wait, steps, runs=5, warm=10):
    for _ in range(warm):
        step()
    wait()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        times.append((time.perf_counter() - begin) / steps * 1e3)
    return statistics.median(times)


def row(name, ms, images=0):
    print(f"  {name:<52} {ms:9.3f} ms" + (f" {images / ms * 1e3:8.0f} images/s" if images else ""), flush=True)


def attempt(name, body):
    try:
        body()
    except Exception as e:  # one row less; the others count
        print(f"  {name}: {type(e).__name__}: {str(e)[:200]}", flush=True)


def graph_of(torch, step):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def cnn_of(torch):
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(32, 64, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(3136, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10))


def lstm_of(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.dense = torch.nn.LSTM(60, 256), torch.nn.Linear(256, 60)

        def forward(self, x):
            return self.dense(self.lstm(x)[0][-1])

    return Net()


def trainer(torch, net, x, y, compiled=False):
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, capturable=True, fused=True)
    call = torch.compile(net) if compiled else net

    def step():
        adam.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(call(x), y).backward()
        adam.step()

    return step


def small_with_torch():
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    wait = torch.cuda.synchronize
    for n in (1000, 2048):
        a = torch.randn(n, n, device="cuda") * 0.01
        row(f"PyTorch, 200 x matmul({n}), float32", 200 * median_ms(lambda: a @ a, wait, 200))

    def rows(name, net, x, y, steps):
        attempt(name, lambda: row(f"PyTorch eager, {name}", median_ms(trainer(torch, net(), x, y), wait, steps)))
        attempt(name, lambda: row(f"PyTorch CUDA graph, {name}",
                                  median_ms(graph_of(torch, trainer(torch, net(), x, y)), wait, steps)))
        attempt(name, lambda: row(f"PyTorch torch.compile + CUDA graph, {name}",
                                  median_ms(graph_of(torch, trainer(torch, net(), x, y, True)), wait, steps)))

    for batch in (50, 1024):
        for last in (False, True):
            x = torch.rand(batch, 1, 28, 28, device="cuda")
            y = torch.arange(batch, device="cuda") % 10
            form = torch.channels_last if last else torch.contiguous_format
            rows(f"CNN (P56), batch {batch}" + (", channels last" if last else ""),
                 lambda: cnn_of(torch).cuda().to(memory_format=form), x.to(memory_format=form), y, 50)
    x = torch.nn.functional.one_hot(torch.arange(2000, device="cuda") * 7 % 60, 60).float().reshape(40, 50, 60)
    y = torch.arange(50, device="cuda") * 13 % 60
    rows("LSTM 256 x 40, batch 50", lambda: lstm_of(torch).cuda(), x, y, 30)


def with_jax():
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_default_matmul_precision", "float32")
    key = jax.random.PRNGKey(0)

    def weights(shape, scale):
        return jax.random.uniform(key, shape, minval=-scale, maxval=scale)

    def time_net(name, logits_of, params, x, y, steps):
        state = {"p": params, "m": [jnp.zeros_like(p) for p in params], "v": [jnp.zeros_like(p) for p in params],
                 "t": jnp.zeros((), jnp.int32)}

        def loss_of(p, x, y):
            return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits_of(p, x)), y[:, None], 1))

        def train(s, x, y):
            loss, g = jax.value_and_grad(loss_of)(s["p"], x, y)
            t = s["t"] + 1
            m = [0.9 * a + 0.1 * b for a, b in zip(s["m"], g)]
            v = [0.999 * a + 0.001 * b * b for a, b in zip(s["v"], g)]
            lr = 1e-3 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
            p = [a - lr * b / (jnp.sqrt(c) + 1e-7) for a, b, c in zip(s["p"], m, v)]
            return {"p": p, "m": m, "v": v, "t": t}, loss

        jitted = jax.jit(train, donate_argnums=0)
        holder = {"s": state}

        def step():
            holder["s"], holder["l"] = jitted(holder["s"], x, y)

        row(f"JAX, {name}", median_ms(step, lambda: holder["l"].block_until_ready(), steps))

    def cnn(p, x):
        for k, c in ((p[0], p[1]), (p[2], p[3])):
            x = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.nn.relu(x + c)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jax.nn.relu(x.reshape(x.shape[0], -1) @ p[4] + p[5])
        return x @ p[6] + p[7]

    for batch in (50, 1024):
        params = [weights((5, 5, 1, 32), .2), jnp.zeros(32), weights((5, 5, 32, 64), .035), jnp.zeros(64),
                  weights((3136, 1024), .018), jnp.zeros(1024), weights((1024, 10), .03), jnp.zeros(10)]
        x, y = jax.random.uniform(key, (batch, 28, 28, 1)), jnp.arange(batch) % 10
        attempt("CNN", lambda: time_net(f"CNN (P56), batch {batch}", cnn, params, x, y, 50))

    def lstm(p, x):
        def cell(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(x @ p[0] + h @ p[1] + p[2], 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        (h, _), _ = jax.lax.scan(cell, (jnp.zeros((50, 256)), jnp.zeros((50, 256))), x)
        return h @ p[3] + p[4]

    params = [weights((60, 1024), .06), weights((256, 1024), .06), jnp.zeros(1024), weights((256, 60), .06),
              jnp.zeros(60)]
    x = jax.nn.one_hot(jnp.arange(2000) * 7 % 60, 60).reshape(40, 50, 60)
    attempt("LSTM", lambda: time_net("LSTM 256 x 40, batch 50", lstm, params, x, jnp.arange(50) * 13 % 60, 20))


def large_with_torch():
    import torch
    import torchvision

    torch.backends.cudnn.benchmark = True
    batch = 256
    x = torch.randn(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    y = torch.arange(batch, device="cuda") * 3 % 1000

    def time_net(name, make, compiled):
        net = make().cuda().to(memory_format=torch.channels_last)
        sgd = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
        call = torch.compile(net) if compiled else net

        def step():
            sgd.zero_grad(set_to_none=True)
            with torch.autocast("cuda", torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(call(x), y)
            loss.backward()
            sgd.step()

        ms = median_ms(step, torch.cuda.synchronize, 10, warm=6)
        row(f"PyTorch {'torch.compile' if compiled else 'eager'}, {name}, batch {batch}, bfloat16", ms, batch)

    for compiled in (False, True):
        for name, make in (("ResNet-50", torchvision.models.resnet50), ("MobileNetV2", torchvision.models.mobilenet_v2)):
            attempt(name, lambda: time_net(name, make, compiled))


for peer in (with_jax, small_with_torch, large_with_torch):
    attempt(peer.__name__, peer)
