"""The files of build/benchmarks/data_files in tf.data, by one thread.

    build/benchmarks/data_files FOLDER && data_peers.py FOLDER

Prints the same lines, to be read beside those of the same machine.
"""
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import tensorflow as tf

folder = sys.argv[1]
BATCH = 256
options = tf.data.Options()
options.threading.private_threadpool_size = 1
options.threading.max_intra_op_parallelism = 1
options.autotune.enabled = False


def best(dataset):
    dataset = dataset.with_options(options)
    seconds, deadline = float("inf"), time.time() + 5
    while time.time() < deadline:
        start = time.perf_counter()
        for _ in dataset:
            pass
        seconds = min(seconds, time.perf_counter() - start)
    return seconds


def line(what, value, unit):
    print(f"{what:<62} {value:10.2f} {unit}", flush=True)


records, examples, rows = (f"{folder}/{name}" for name in ("records.tfrecord", "examples.tfrecord", "rows.csv"))
gigabytes = os.path.getsize(records) / 1e9
line("TFRecords of 1 kB, with their checksums", gigabytes / best(tf.data.TFRecordDataset(records)), "GB/s")
line("the same in batches of 256", gigabytes / best(tf.data.TFRecordDataset(records).batch(BATCH)), "GB/s")

features = {f"feature_{k}": tf.io.FixedLenFeature([], tf.int64 if k % 2 else tf.float32) for k in range(16)}
count = sum(1 for _ in tf.data.TFRecordDataset(examples))
parsed = tf.data.TFRecordDataset(examples).batch(BATCH).map(lambda b: tf.io.parse_example(b, features))
line("Examples of 16 features, read and parsed in batches of 256", count / best(parsed) / 1e6, "M/s")
parsed = tf.data.TFRecordDataset(examples).map(lambda e: tf.io.parse_single_example(e, features))
line("the same one by one", count / best(parsed) / 1e6, "M/s")

megabytes = os.path.getsize(rows) / 1e6
table = tf.data.experimental.CsvDataset(rows, [tf.float32] * 8)
line("CSV of 8 columns of floats, in batches of 256", megabytes / best(table.batch(BATCH)), "MB/s")
line("the same row by row", megabytes / best(table), "MB/s")

ELEMENTS = 200000
# In batches, so that Python's share of an element is small.
numbers = tf.data.Dataset.range(ELEMENTS)
line("range(200000).map of a function of a number, an element", 1e9 * best(numbers.map(lambda x: x + 1).batch(1000)) / ELEMENTS, "ns")
line("range(200000).shuffle(10000), an element", 1e9 * best(numbers.shuffle(10000).batch(1000)) / ELEMENTS, "ns")
