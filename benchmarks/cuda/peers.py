"""The training step of benchmarks/cuda/mlp.cc (784-100-10, batch 50, Adam) in PyTorch and JAX on a GPU:
microseconds a step, the median of several runs. What is not installed is left out."""
import statistics
import time


def median_us(step, wait, steps=300, runs=9):
    for _ in range(100):
        step()
    wait()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        times.append((time.perf_counter() - begin) / steps * 1e6)
    return statistics.median(times)


def row(name, us):
    print(f"  {name:<46} {us:8.1f}", flush=True)


def with_torch():
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False

    def setup(capturable):
        net = torch.nn.Sequential(torch.nn.Linear(784, 100), torch.nn.ReLU(), torch.nn.Linear(100, 10)).cuda()
        adam = torch.optim.Adam(net.parameters(), lr=1e-3, capturable=capturable, fused=True)
        x = torch.rand(50, 784, device="cuda")
        y = torch.randint(0, 10, (50,), device="cuda")

        def step():
            adam.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            adam.step()
            return loss

        return step

    row("PyTorch, eager", median_us(setup(False), torch.cuda.synchronize))
    step = setup(True)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    row("PyTorch, CUDA graph", median_us(graph.replay, torch.cuda.synchronize))


def with_jax():
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_default_matmul_precision", "float32")
    key = jax.random.PRNGKey(0)
    params = [jax.random.normal(key, (784, 100)) * 0.05, jnp.zeros(100),
              jax.random.normal(key, (100, 10)) * 0.1, jnp.zeros(10)]
    state = {"p": params, "m": [jnp.zeros_like(p) for p in params], "v": [jnp.zeros_like(p) for p in params],
             "t": jnp.zeros((), jnp.int32)}
    x = jax.random.uniform(key, (50, 784))
    y = jax.random.randint(key, (50,), 0, 10)

    def loss_of(p):
        logits = jax.nn.relu(x @ p[0] + p[1]) @ p[2] + p[3]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))

    def train(s):
        loss, g = jax.value_and_grad(loss_of)(s["p"])
        t = s["t"] + 1
        m = [0.9 * a + 0.1 * b for a, b in zip(s["m"], g)]
        v = [0.999 * a + 0.001 * b * b for a, b in zip(s["v"], g)]
        lr = 1e-3 * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        p = [a - lr * b / (jnp.sqrt(c) + 1e-7) for a, b, c in zip(s["p"], m, v)]
        return {"p": p, "m": m, "v": v, "t": t}, loss

    jitted = jax.jit(train, donate_argnums=0)
    holder = {"s": state, "l": None}

    def step():
        holder["s"], holder["l"] = jitted(holder["s"])

    row("JAX, jit", median_us(step, lambda: holder["l"].block_until_ready()))


def kernels_with_torch():
    """The rows of benchmarks/cuda/kernels.cc, channels last."""
    import torch
    from torch.nn.functional import batch_norm, conv2d, layer_norm, max_pool2d

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True

    def us(call):
        return median_us(call, torch.cuda.synchronize, steps=10, runs=7)

    for dtype in (torch.float32, torch.bfloat16):
        for size, into, out, taps, stride in ((56, 64, 64, 3, 1), (224, 3, 64, 7, 2), (14, 1024, 256, 1, 1)):
            x = torch.randn(64, into, size, size, device="cuda", dtype=dtype).to(memory_format=torch.channels_last)
            w = torch.randn(out, into, taps, taps, device="cuda", dtype=dtype).to(memory_format=torch.channels_last)
            pad = taps // 2
            y = conv2d(x, w, stride=stride, padding=pad)
            name = f"PyTorch, conv {size}x{size}x{into} -> {out}, {taps}x{taps}, {str(dtype)[6:]}"
            row(name + ": output", us(lambda: conv2d(x, w, stride=stride, padding=pad)))
            row(name + ": input", us(lambda: torch.nn.grad.conv2d_input(x.shape, w, y, stride, pad)))
            row(name + ": filter", us(lambda: torch.nn.grad.conv2d_weight(x, w.shape, y, stride, pad)))
    x = torch.randn(64, 256, 56, 56, device="cuda").to(memory_format=torch.channels_last)
    one, zero = torch.ones(256, device="cuda"), torch.zeros(256, device="cuda")
    row("PyTorch, batch norm", us(lambda: batch_norm(x, None, None, one, zero, training=True)))
    row("PyTorch, max pool", us(lambda: max_pool2d(x, 3, 2, 1)))
    rows = torch.randn(64 * 56 * 56, 256, device="cuda")
    row("PyTorch, layer norm", us(lambda: layer_norm(rows, (256,), one, zero)))
    ids = torch.randint(0, 30000, (65536,), device="cuda")
    updates = torch.randn(65536, 128, device="cuda")
    row("PyTorch, index_add (not deterministic)",
        us(lambda: torch.zeros(30000, 128, device="cuda").index_add_(0, ids, updates)))
    long_row = torch.randn(1 << 20, device="cuda")
    row("PyTorch, top 100 of 2^20", us(lambda: torch.topk(long_row, 100)))
    row("PyTorch, cumsum of 2^20", us(lambda: torch.cumsum(long_row, 0)))


for peer in (with_torch, with_jax, kernels_with_torch):
    try:
        peer()
    except ImportError as e:
        print(f"  left out: {e}")
