"""A file system that fills up during a run; and a long run, which must not fill the memory."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints, damage

tf1 = tf.compat.v1


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 32 MB."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "graphtrain_test", str(tmp_path)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_a_full_disk_spares_the_earlier_checkpoints(small_disk, caplog):
    ballast = small_disk / "ballast"
    with tf.Graph().as_default():
        tf1.get_variable("w", initializer=np.zeros(100_000, np.float32))
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(small_disk / "run"),
            save_checkpoint_steps=5,
            scaffold=tf1.train.Scaffold(saver=tf1.train.Saver(max_to_keep=2)),
        ) as session:
            for step in range(1, 18):
                session.run(train_op)
                if step == 7:
                    fill(ballast)
                if step == 10:
                    newest = checkpoints.newest(str(small_disk / "run"))
                    assert newest.endswith("-5") and damage.fault_of(newest) is None
                    assert not (small_disk / "run" / "unfinished_save").exists()
                if step == 12:
                    os.remove(ballast)
    assert "the checkpoint of step 10 could not be saved" in caplog.text
    assert "No space left on device" in caplog.text
    kept = [checkpoints.global_step_of(path) for path in checkpoints.kept(str(small_disk / "run"))]
    assert kept == [15, 17]


def fill(path):
    with pytest.raises(OSError), open(path, "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 100_000)


LONG_RUN = """
import ctypes, gc, resource, sys
import tensorflow as tf
import graphtrain

tf1 = tf.compat.v1

def resident_mb():
    # What is free and not yet given back comes and goes by several megabytes.
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6

with tf.Graph().as_default() as graph:
    step = tf1.train.get_or_create_global_step()
    numbers = tf.data.Dataset.range(100).shuffle(50, seed=1).repeat().batch(4)
    features, _ = graphtrain.session.inputs.features_and_labels(numbers)
    w = tf1.get_variable("w", initializer=tf.zeros([100]))
    loss = tf.reduce_mean(tf.square(w - tf.cast(tf.reduce_sum(features), tf.float32)))
    train_op = tf1.train.AdamOptimizer(0.01).minimize(loss, step)
    tf1.summary.scalar("loss", loss)
    with graphtrain.MonitoredTrainingSession(
        checkpoint_dir=sys.argv[1], save_checkpoint_steps=500
    ) as session:
        ops = len(graph.get_operations())
        for number in range(1, 22001):
            session.run(train_op)
            if number in (2000, 4000, 22000):
                print(resident_mb(), flush=True)
        print(len(graph.get_operations()) - ops)
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc")
def test_twenty_thousand_steps_take_no_more_memory_than_two_thousand(tmp_path):
    root = os.path.dirname(os.path.dirname(graphtrain.__file__))
    done = subprocess.run(
        [sys.executable, "-c", LONG_RUN, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    early, settled, late, new_ops = map(float, done.stdout.split())
    # Some megabytes may come once, early or a little later; those that come again and again are
    # a leak.
    assert late - max(early, settled) < 5
    assert new_ops == 0
    names = sorted(path.name.split(".")[0] for path in tmp_path.iterdir())
    assert names == ["checkpoint", "events", "graph", *["model"] * 5 * 4]
