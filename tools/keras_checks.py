"""What keras_files.py and keras_newest.py share: their arguments, and checks that are counted."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
binary, goldens = (os.path.abspath(p) for p in sys.argv[1:3])
update = "--update" in sys.argv
program = os.path.basename(sys.argv[0]).removesuffix(".py")
checked = 0

# The models are in make_models.py beside the goldens, which takes no arguments.
sys.argv = sys.argv[:1]
sys.path.insert(0, goldens)
sys.dont_write_bytecode = True


def check(ok, what):
    global checked
    checked += 1
    if not ok:
        sys.exit(f"{program}: {what}")


def run(tests, **environment):
    subprocess.run([binary, "--gtest_brief=1", "--gtest_filter=" + tests], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "RILL_SOURCE_DIR": ROOT, **environment})
    check(True, "")


def near(got, want, what):
    import numpy as np
    check(np.allclose(got, want, rtol=0, atol=4e-6), f"{what}: {got}, and not {want}")
