"""Checkpoints, event files and TFRecords between Rill and TensorFlow, both ways.

    checkpoints.py <folder of test binaries> <goldens folder> [--update]

Theirs: TensorFlow writes the checkpoints of make_checkpoints.py anew, and Rill's tests read
them instead of those that are checked in; --update checks them in. Ours: checkpoints_test
writes files, and TensorFlow restores and reads them.
"""
import glob
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing import event_accumulator

binaries, goldens = (os.path.abspath(p) for p in sys.argv[1:3])
update = "--update" in sys.argv
sys.argv = sys.argv[:1]  # the script that is imported has its own arguments
sys.path.insert(0, goldens)
sys.dont_write_bytecode = True
import make_checkpoints as theirs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
checked = 0


def check(ok, what):
    global checked
    checked += 1
    if not ok:
        sys.exit("checkpoints: " + what)


def run(binary, tests, **environment):
    subprocess.run([os.path.join(binaries, binary), "--gtest_brief=1", "--gtest_filter=" + tests], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "RILL_SOURCE_DIR": ROOT, **environment})


def rill_reads(folder):
    theirs.FOLDER = folder
    theirs.main()
    run("saving_test", "*", RILL_CHECKPOINT_GOLDENS=folder)
    run("checkpoints_test", "OptimizerCheckpoint.*", RILL_CHECKPOINT_GOLDENS=folder)
    check(True, "")


def same_tensors(ours, reference):
    a, b = tf.train.load_checkpoint(ours), tf.train.load_checkpoint(reference)
    shapes = b.get_variable_to_shape_map()
    check(a.get_variable_to_shape_map() == shapes, f"{ours} has other shapes")
    check(a.get_variable_to_dtype_map() == b.get_variable_to_dtype_map(), f"{ours} has other dtypes")
    for key in shapes:
        check(np.array_equal(a.get_tensor(key), b.get_tensor(key)), f"{ours}: {key} differs")


def tensorflow_reads_tensors(folder):
    same_tensors(folder + "/every_type/tensors", os.path.join(goldens, "every_type"))
    reader = tf.train.load_checkpoint(folder + "/many/tensors")
    names = reader.get_variable_to_shape_map()
    check(len(names) == 3000, f"{len(names)} of 3000 tensors")
    for name in names:
        i = int(name.split("/")[1])
        check(reader.get_tensor(name).tolist() == [i, -i], name)


def tensorflow_reads_objects(folder):
    x, w, b = tf.Variable(0.0), tf.Variable([[0.0, 0.0]]), tf.Variable(0, dtype=tf.int64)
    inner = tf.train.Checkpoint(**{"w": w, "a/b.c": b})
    checkpoint = tf.train.Checkpoint(x=x, inner=inner, list=[w, b], again=w)
    path = tf.train.latest_checkpoint(folder + "/nested")
    check(path == folder + "/nested/nested-1", f"latest_checkpoint is {path}")
    checkpoint.restore(path).assert_consumed()
    check(x.numpy() == 2 and w.numpy().tolist() == [[1, 2]] and b.numpy() == 3, "nested values differ")
    check(checkpoint.save_counter.numpy() == 1, "save_counter differs")


def tensorflow_reads_tables(folder):
    grows = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    dense = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "$", initial_num_buckets=8)
    tf.train.Checkpoint(grows=grows, dense=dense).read(folder + "/tables/tables").assert_consumed()
    words = tf.constant(["b", "word 7", "x"])
    check(grows.lookup(words).numpy().tolist() == [2, -1, -1] and grows.size().numpy() == 2, "the table differs")
    check(dense.lookup(words).numpy().tolist() == [-1, 7, -1] and dense.size().numpy() == 100, "the dense table differs")


def two_steps_more(name, path, trained):
    """The variables that TensorFlow has two steps after it restored a checkpoint."""
    w, b = tf.Variable(tf.zeros([2, 2]), name="w"), tf.Variable(tf.zeros([2]), name="b")
    optimizer = theirs.optimizer_cases()[name]
    if trained:
        optimizer.apply_gradients(zip(theirs.gradients(0), [w, b]))
    status = tf.train.Checkpoint(w=w, b=b, optimizer=optimizer).restore(path)
    for step in (3, 4):
        optimizer.apply_gradients(zip(theirs.gradients(step), [w, b]))
    status.assert_consumed()
    return np.concatenate([w.numpy().reshape(-1), b.numpy()])


def tensorflow_goes_on(folder):
    """From our checkpoints as from its own. (From neither does Keras's Nadam go on as if
    nothing had happened: it keeps a count that it does not save.)"""
    for name in theirs.optimizer_cases():
        for trained in (False, True):
            got = two_steps_more(name, f"{folder}/optimizers/{name}-1", trained)
            want = two_steps_more(name, f"{goldens}/optimizers/{name}-1", trained)
            check(np.allclose(got, want, rtol=0, atol=2e-6), f"{name}: {got} and {want}")


def tensorflow_manages(folder):
    x = tf.Variable(0.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(x=x), folder + "/managed", max_to_keep=3)
    check([os.path.basename(p) for p in manager.checkpoints] == ["ckpt-300", "ckpt-400", "ckpt-500"], str(manager.checkpoints))
    manager.restore_or_initialize()
    check(x.numpy() == 500, "the newest checkpoint differs")
    manager.save(checkpoint_number=600)
    check(not os.path.exists(folder + "/managed/ckpt-300.index"), "ckpt-300 is still there")


def tensorboard_reads(folder):
    loss = [np.float32(1 / (i + 1)) for i in range(20)]
    (path,) = glob.glob(folder + "/events/events.out.tfevents.*")
    events = list(tf.compat.v1.train.summary_iterator(path))
    check(events[0].file_version == "brain.Event:2" and len(events) == 41, f"{len(events)} events")
    got = [tf.make_ndarray(v.tensor) for e in events for v in e.summary.value if v.tag == "loss"]
    check(got == loss, f"losses {got}")
    board = event_accumulator.EventAccumulator(folder + "/events", {"tensors": 0})
    board.Reload()
    check(sorted(board.Tags()["tensors"]) == ["MyScalar", "loss"], str(board.Tags()))
    check([(e.step, tf.make_ndarray(e.tensor_proto)) for e in board.Tensors("loss")] == list(enumerate(loss)), "loss")
    metadata = board.SummaryMetadata("MyScalar")
    check(metadata.plugin_data.plugin_name == "scalars" and metadata.summary_description == "squares", str(metadata))


def tensorflow_reads_records(folder):
    for compression in ("", "ZLIB", "GZIP"):
        records = tf.data.TFRecordDataset(folder + "/records/records" + compression, compression)
        check([len(r) for r in records.as_numpy_iterator()] == [i * i for i in range(100)], "records " + compression)


with tempfile.TemporaryDirectory() as temporary:
    if update:
        theirs.FOLDER = goldens
        theirs.main()
    rill_reads(temporary + "/theirs")
    ours = temporary + "/ours"
    run("checkpoints_test", "Interchange.*", RILL_CHECKPOINT_OUT=ours)
    tensorflow_reads_tensors(ours)
    tensorflow_reads_objects(ours)
    tensorflow_reads_tables(ours)
    tensorflow_goes_on(ours)
    tensorflow_manages(ours)
    tensorboard_reads(ours)
    tensorflow_reads_records(ours)
print(f"checkpoints: {checked} checks, Rill reads what TensorFlow writes and the reverse")
