#!/usr/bin/env python3
"""Writes rill/base/unicode_scripts_impl.h: where runs of characters of one script begin, as
TensorFlow 2.15's tf.strings.unicode_script tells it for every character."""
import os

import numpy as np
import tensorflow as tf

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "rill", "base", "unicode_scripts_impl.h")


def main():
    scripts = tf.strings.unicode_script(np.arange(0x110000, dtype=np.int32)).numpy()
    begins = np.flatnonzero(np.diff(scripts, prepend=-2))
    runs = ["{0x%x, %d}" % (b, scripts[b]) for b in begins]
    lines, line = [], ""
    for run in runs:
        if len(line) + len(run) + 2 > 100:
            lines.append(line.rstrip())
            line = ""
        line += run + ", "
    lines.append(line.rstrip())
    with open(PATH, "w") as out:
        out.write("// Made by tools/unicode_scripts.py: the first character of each run, and its script.\n"
                  "// clang-format off\n" + "\n".join(lines) + "\n// clang-format on\n")
    print("%d runs" % len(runs))


if __name__ == "__main__":
    main()
