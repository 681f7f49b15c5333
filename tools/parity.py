"""Asks TensorFlow for the results of every conformance sample.

    parity.py <conformance binary> <goldens folder> [--update] [--rows=<regex>]

Runs each sample through tf.raw_ops (or, for composites, the row's Python
expression), compares with the goldens that are checked in, and with --update
writes them anew; --rows limits it to the rows whose whole name matches. Prints what
differs, and what TensorFlow has no kernel for.
"""
import math
import os
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import numpy as np
import tensorflow as tf


def unhex(word):
    return bytes.fromhex(word[1:])


def read_tensor(words):
    dtype, shape = tf.as_dtype(words[0]), words[1]
    dims = [] if shape == "-" else [int(d) for d in shape.split(",")]
    text = words[2:]
    if dtype == tf.string:
        return tf.constant([unhex(w) for w in text], tf.string, dims)
    if dtype.is_complex:
        numbers = [complex(float(a), float(b)) for a, b in zip(text[::2], text[1::2])]
    elif dtype.is_integer or dtype == tf.bool:
        numbers = [int(w) for w in text]
    else:
        numbers = [float(w) for w in text]
    array = np.array(numbers, dtype=dtype.as_numpy_dtype).reshape(dims)
    return tf.constant(array, dtype)


def read_attr(text):
    kind, value = text.split(":", 1)
    items = [v for v in value.strip("[]").split(",") if v] if kind[0] in "lh" else []
    return {
        "b": lambda: value == "1",
        "i": lambda: int(value),
        "f": lambda: float(value),
        "s": lambda: unhex(value).decode(),
        "t": lambda: tf.as_dtype(value),
        "h": lambda: [None if i == "-1" else int(i) for i in items],
        "li": lambda: [int(i) for i in items],
        "lf": lambda: [float(i) for i in items],
        "ls": lambda: [unhex(i).decode() for i in items],
        "lt": lambda: [tf.as_dtype(i) for i in items],
    }[kind]()


def read_requests(path):
    rows = []
    for line in open(path):
        words = line.rstrip("\n").split(" ")
        if words[0] == "row":
            rows.append(dict(key=words[1], checksum=words[2], op=words[3], inputs=[], attrs={}, args=[], tf=None))
        elif words[0] in ("in", "var"):
            rows[-1]["inputs"].append((words[0], read_tensor(words[1:])))
        elif words[0] == "attr":
            rows[-1]["attrs"][words[1]] = read_attr(" ".join(words[2:]))
        elif words[0] == "arg":
            rows[-1]["args"].append((words[1], words[2] == "1"))
        elif words[0] == "tf":
            rows[-1]["tf"] = line[3:].strip()
    return rows


# Names that the Python API of an op gives to inputs and attributes of its schema.
RENAMED = {"Sum": {"reduction_indices": "axis"}, "Mean": {"reduction_indices": "axis"}, "Prod": {"reduction_indices": "axis"},
           "Max": {"reduction_indices": "axis"}, "EuclideanNorm": {"reduction_indices": "axis"}, "Min": {"reduction_indices": "axis"}, "Any": {"reduction_indices": "axis"},
           "All": {"reduction_indices": "axis"}, "ExpandDims": {"dim": "axis"}, "Squeeze": {"squeeze_dims": "axis"},
           "Where": {"input": "condition"}, "Split": {"split_dim": "axis"}, "SplitV": {"split_dim": "axis"}}
# What TensorFlow says when it has no kernel for a dtype.
NO_KERNEL = ("not in the list of allowed values", "Could not find device for node", "No OpKernel was registered")


def run(row):
    """The outputs as a list of tensors."""
    values = [t for _, t in row["inputs"]]
    if row["tf"]:
        names = {f"x{i}": t for i, t in enumerate(values)}
        out = eval(row["tf"], {"tf": tf, "np": np, "math": math}, names)
    else:
        variables = []
        for i, (kind, t) in enumerate(row["inputs"]):
            if kind == "var":
                variables.append(tf.Variable(t))
                values[i] = variables[-1].handle
        kwargs, at = {}, 0
        lists = sum(1 for _, is_list in row["args"] if is_list)
        n = (len(values) - (len(row["args"]) - lists)) // max(lists, 1)
        for name, is_list in row["args"]:
            name = RENAMED.get(row["op"], {}).get(name, name)
            kwargs[name] = values[at:at + n] if is_list else values[at]
            at += n if is_list else 1
        attrs = {RENAMED.get(row["op"], {}).get(name, name): v for name, v in row["attrs"].items()}
        out = getattr(tf.raw_ops, row["op"])(**kwargs, **attrs)
        if variables:
            out = ([] if out is None or isinstance(out, tf.Operation) else flat(out)) + [v.read_value() for v in variables]
    return flat(out)


def flat(out):
    if out is None:
        return []
    if isinstance(out, (list, tuple)):
        return [t for o in out for t in flat(o)]
    return [tf.convert_to_tensor(out)]


def number(v):
    return repr(float(v)).replace("inf", "inf")


def write_tensor(t):
    dims = ",".join(str(d) for d in t.shape) if t.shape.rank else "-"
    a = np.array(t.numpy()).reshape(-1)
    if t.dtype == tf.string:
        a = np.array(t.numpy(), dtype=object).reshape(-1)
        text = ["x" + (v if isinstance(v, bytes) else v.encode()).hex() for v in a]
    elif t.dtype.is_complex:
        text = [w for v in a for w in (number(v.real), number(v.imag))]
    elif t.dtype.is_integer or t.dtype == tf.bool:
        text = [str(int(v)) for v in a]
    else:
        text = [number(v) for v in a]
    return " ".join(["out", t.dtype.name, dims] + text)


def same(old, new):
    """TensorFlow's answers vary by its threads in the last digits, and in which fault it names first."""
    old, new = old.split("\n"), new.split("\n")
    if len(old) != len(new):
        return False
    for a, b in zip(old, new):
        if a == b or a.startswith("error") and b.startswith("error"):
            continue
        a, b = a.split(" "), b.split(" ")
        if len(a) != len(b) or a[:3] != b[:3] or a[0] != "out" or a[1] not in FRACTIONS:
            return False
        if not all(close(float(x), float(y), FRACTIONS[a[1]]) for x, y in zip(a[3:], b[3:])):
            return False
    return True


FRACTIONS = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-12, "complex64": 2e-6, "complex128": 1e-12}


def close(x, y, tolerance):
    return x == y or (x != x and y != y) or abs(x - y) <= tolerance * max(1, abs(x))


def main():
    binary, folder = sys.argv[1], sys.argv[2]
    update = "--update" in sys.argv
    with tempfile.NamedTemporaryFile() as f:
        subprocess.run([binary, "--write_requests=" + f.name], check=True)
        rows = read_requests(f.name)
    for arg in sys.argv:
        if arg.startswith("--rows="):
            rows = [r for r in rows if re.fullmatch(arg[7:], r["op"])]
    files, refused, broken = {}, {}, 0
    for row in rows:
        lines = [f"row {row['key']} {row['checksum']}"]
        try:
            lines += [write_tensor(t) for t in run(row)]
        except Exception as e:  # TensorFlow has no such kernel, or refuses the call
            message = str(e).split("\n")[0][:160]
            if not any(text in str(e) for text in NO_KERNEL):
                broken += 1
                print(f"the call fails in TensorFlow: {row['key']}: {message}")
            lines.append("error " + message)
            refused.setdefault(row["op"], []).append((row["key"].rsplit("/", 1)[1], message))
        files.setdefault(row["op"], []).append("\n".join(lines) + "\n")
    stale = 0
    for op, parts in sorted(files.items()):
        path = os.path.join(folder, op.replace(":", "_") + ".txt")
        text = "".join(parts)
        old = open(path).read() if os.path.exists(path) else ""
        if not same(old, text):
            stale += 1
            print(("wrote " if update else "differs: ") + path)
            if update:
                open(path, "w").write(text)
    print(f"{len(rows)} samples of {len(files)} rows asked of TensorFlow {tf.__version__}")
    for op, list_ in sorted(refused.items()):
        print(f"  refused by TensorFlow: {op}: " + ", ".join(sorted({d for d, _ in list_})) + " (" + list_[0][1][:80] + ")")
    if broken:
        print(f"{broken} samples could not be asked; mend the row, or say not_in_tensorflow(why)")
        return 1
    if stale and not update:
        print(f"{stale} goldens differ from what TensorFlow says now")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
