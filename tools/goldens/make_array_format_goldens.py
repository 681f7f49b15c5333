#!/usr/bin/env python3
"""Writes rill/core/testdata/array_format.txt: arrays and what NumPy prints for them.

Needs numpy 1.26 and ml_dtypes (both come with tensorflow 2.15). A case is six lines and a blank:

  case DTYPE DIMS        DIMS are comma-separated, `-` for a 0-d array
  options P T E W S      precision, threshold, edgeitems, linewidth, suppress
  values V...            integers in decimal; floats as the hex of their bits; complex as two
                         of these; strings as the hex of their bytes after an `x`
    or: arange A B       element i is A + B * i
  str TEXT               with \\n for a newline and \\\\ for a backslash
  repr TEXT
  scalar TEXT            str() of the first element, `-` if there is none
"""
import argparse
import random

import ml_dtypes
import numpy as np

FLOATS = ["float16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DEFAULT = dict(precision=8, threshold=1000, edgeitems=3, linewidth=75, suppress=False)
NAN, INF = float("nan"), float("inf")


def np_dtype(name):
    special = {"string": object, "bfloat16": ml_dtypes.bfloat16, "bool": np.bool_}
    return special.get(name, name)


def bits(x):
    return " ".join(f"{int(v):x}" for v in np.atleast_1d(x).view(f"u{x.dtype.itemsize}"))


def spell(name, flat):
    if name == "string":
        return " ".join("x" + v.hex() for v in flat)
    if name.startswith("complex"):
        return bits(flat.view(flat.real.dtype))
    if "float" in name:
        return bits(flat)
    return " ".join(str(int(v)) for v in flat)


def escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n")


class Writer:
    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, name, values, shape=None, arange=None, **options):
        o = {**DEFAULT, **options}
        with np.errstate(all="ignore"):
            if arange:
                n = int(np.prod(shape))
                a = (arange[0] + arange[1] * np.arange(n, dtype=np.float64)).astype(np_dtype(name))
            elif name == "string":
                a = np.empty(len(values), dtype=object)
                a[:] = values
            else:
                a = np.array(values).astype(np_dtype(name)).reshape(-1)
        a = a.reshape(shape if shape is not None else (len(values),))
        np.set_printoptions(**o)
        dims = ",".join(map(str, a.shape)) or "-"
        first = "-"
        if a.size:
            v = a.reshape(-1)[0]
            first = repr(v) if name == "string" else str(v)
        self.lines += [
            f"case {name} {dims}",
            "options {precision} {threshold} {edgeitems} {linewidth} {s}".format(
                s=int(o["suppress"]), **o),
            f"arange {arange[0]} {arange[1]}" if arange else
            f"values {spell(name, a.reshape(-1))}".rstrip(),
            "str " + escape(str(a)), "repr " + escape(repr(a)), "scalar " + escape(first), ""]
        self.count += 1


def fixed_cases(w):
    for name in FLOATS + ["bfloat16", "complex64", "complex128"]:
        for v in ([70, 100], [9], [0.97637], [0.1, 0.25, 1.0 / 3], [0.0, -0.0], [NAN, 1.5],
                  [INF, -INF, NAN], [INF, 2], [-INF, 2], [NAN], [1e-4], [9.9e-5, 1], [0.001, 1],
                  [0.001, 1.01], [1e8], [99999999.0, 5], [123456.789, 1000.5], [1e-5, 1e5],
                  [1e-300, 1e300], [1e-45, 3e38], [5e-324, 1.5], [NAN, 1e20, -1e-20],
                  [INF, 1e20], [-1.5, 22.25, -333.125], [0.3, 0.1 + 0.2, 2 / 3],
                  [65504, 1], [6e-8], [2.0**-44], [9007199254740993.0], [1e16, 1e15]):
            w.add(name, v)
        w.add(name, [[70.0], [100.0]], (2, 1))
        w.add(name, [4], (1, 1))
        w.add(name, [], (0,))
        w.add(name, [], (0, 3))
        w.add(name, [], (2, 0, 1))
        for v in (9, 0.97637, 1e-5, 0.0001, 1e16, 9.9e15, -0.0, NAN, INF, -INF, 123456789.0):
            w.add(name, [v], ())
        w.add(name, None, (30,), (0.5, 0.37))
        w.add(name, None, (1001,), (0, 1))
        w.add(name, None, (1000,), (0, 0.25), threshold=999)
        w.add(name, None, (2, 3, 4), (-5, 0.5))
        w.add(name, None, (20, 60), (-300, 0.5))
    for v in (1 + 2j, 2j, complex(-0.0, 2), complex(1.5, -0.0), 1e20 + 1e-5j,
              complex(NAN, -INF), complex(0, NAN), complex(0, -0.0), 0.1 + 123456.7j):
        for name in ("complex64", "complex128"):
            w.add(name, [v], ())
            w.add(name, [v, 1 - 1j])
            w.add(name, [v, -100.25 + 1e9j, 3 - 2e-7j])
    for name in INTS:
        w.add(name, [1, 2, 3])
        w.add(name, [0, 100, 7, 12], (2, 2))
        w.add(name, [5], ())
        w.add(name, [], (0,))
        w.add(name, [], (0, 0))
        info = np.iinfo(name)
        w.add(name, np.array([info.min, info.max, 0], dtype=name))
        w.add(name, None, (100,), (0, 1))
        w.add(name, None, (11, 1, 100), (0, 0.1))
    w.add("int32", None, (3, 400), (-50, 1))
    w.add("int32", None, (1, 2, 3, 2, 2), (0, 1))
    w.add("int64", None, (7, 7, 30), (0, 1), threshold=100)
    w.add("int64", None, (10,), (0, 1), threshold=5, edgeitems=0)
    w.add("int64", None, (10, 3), (0, 1), threshold=5, edgeitems=1)
    w.add("int64", None, (50,), (0, 1000), linewidth=20)
    w.add("int64", None, (5,), (10**12, 1), linewidth=5)
    for shape in ((), (1,), (3,), (2, 2), (40,), (0,)):
        n = int(np.prod(shape))
        w.add("bool", [i % 3 == 0 for i in range(n)], shape)
    w.add("bool", [True] * 2)
    w.add("bool", None, (1100,), (0, 1))
    for v in ([b"a", b"bc"], [b""], [b"it's", b'say "x"', b"both '\""], [b"\x00\x7f\xff\t\n\r\\"],
              [b"word%d" % i for i in range(30)], ["\u00e9t\u00e9".encode()], [b"x" * 90, b"y"]):
        w.add("string", v)
    w.add("string", [b"abc"], ())
    w.add("string", [b"a\nb'"], ())
    w.add("string", [], (0,))
    w.add("string", [], (0, 2))
    w.add("string", [b"a", b"b", b"cc", b"d"], (2, 2))
    w.add("string", [b"%d" % i for i in range(40)], (40,), threshold=30)


def random_case(w, r):
    name = r.choice(FLOATS * 3 + ["complex64", "complex128", "bfloat16"] + INTS)
    rank = r.choice([0, 1, 1, 1, 2, 2, 3, 4])
    shape = tuple(r.choice([1, 2, 3, 5] + ([17] if rank < 3 else [])) for _ in range(rank))
    n = int(np.prod(shape))
    style = r.choice(["unit", "wide", "short", "bits", "whole"])

    def real():
        if r.random() < 0.04:
            return r.choice([NAN, INF, -INF, 0.0, -0.0])
        if style == "unit":
            return r.gauss(0, 1)
        if style == "wide":
            return r.gauss(0, 1) * 10.0 ** r.randint(-12, 12)
        if style == "short":
            return round(r.uniform(-50, 50), r.randint(0, 4))
        if style == "bits":
            return 2.0 ** r.randint(-30, 30) * r.choice([1, 1, 1.5, 1 + 2.0**-10])
        return float(r.randint(-10**r.randint(1, 10), 10**r.randint(1, 10)))

    options = {}
    if r.random() < 0.3:
        options["precision"] = r.randint(0, 12)
    if r.random() < 0.2:
        options["suppress"] = True
    if r.random() < 0.2:
        options["linewidth"] = r.randint(10, 120)
    if r.random() < 0.2:
        options["threshold"] = r.randint(0, 20)
        options["edgeitems"] = r.randint(1, 4)
    if name in INTS:
        info = np.iinfo(name)
        top = r.choice([9, 99, info.max])
        values = np.array([r.randint(max(info.min, -top), min(info.max, top))
                           for _ in range(n)], dtype=name)
    elif name.startswith("complex"):
        values = [complex(real(), real()) for _ in range(n)]
    else:
        values = [real() for _ in range(n)]
    w.add(name, values, shape, **options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="rill/core/testdata/array_format.txt")
    parser.add_argument("--random", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    w, r = Writer(), random.Random(args.seed)
    fixed_cases(w)
    for _ in range(args.random):
        random_case(w, r)
    with open(args.out, "w", encoding="ascii") as f:
        f.write("# Made by tools/goldens/make_array_format_goldens.py, which tells the format.\n\n")
        f.write("\n".join(w.lines))
    print(w.count, "cases")


if __name__ == "__main__":
    main()
