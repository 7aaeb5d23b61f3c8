"""A process that is killed while it deletes old checkpoints loses nothing and leaves nothing."""

import json
import os
import signal
import subprocess
import sys

import tensorflow as tf

import graphtrain
from graphtrain.session import checkpoints

tf1 = tf.compat.v1

# Imports TensorFlow once, and trains in a fork of itself for each directory: a save a step, two
# checkpoints kept. The fork kills itself before the n-th change of the directory that comes after
# the checkpoint of step 6 is whole.
CHILD = """
import json, os, signal, sys
import tensorflow as tf
import graphtrain
from graphtrain.session import checkpoint_files, checkpoint_state, retention

tf1 = tf.compat.v1

def train(directory, kill_before):
    changes = []
    record = retention.record

    def kills(change):
        def changes_or_kills(*args):
            if changes_are_counted:
                if len(changes) == kill_before:
                    os.kill(os.getpid(), signal.SIGKILL)
                changes.append(args)
            return change(*args)
        return changes_or_kills

    changes_are_counted = []

    def recording(directory, path, *args, **kwargs):
        changes_are_counted.extend(["yes"] if path.endswith("-6") else [])
        return record(directory, path, *args, **kwargs)

    retention.record = recording
    checkpoint_files.remove_file = kills(checkpoint_files.remove_file)
    checkpoint_state.write = kills(checkpoint_state.write)
    train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
    scaffold = tf1.train.Scaffold(saver=tf1.train.Saver(max_to_keep=2))
    with graphtrain.MonitoredTrainingSession(
        checkpoint_dir=directory, save_checkpoint_steps=1, scaffold=scaffold
    ) as session:
        for _ in range(6):
            session.run(train_op)
    os._exit(len(changes))

ends = []
for kill_before, directory in enumerate(sys.argv[1:]):
    process = os.fork()
    if process == 0:
        with tf.Graph().as_default():
            train(directory, kill_before)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
print(json.dumps(ends))
"""


def train(directory, to_step):
    """As the child trains; returns the first step made."""
    with tf.Graph().as_default():
        train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
        scaffold = tf1.train.Scaffold(saver=tf1.train.Saver(max_to_keep=2))
        with graphtrain.MonitoredTrainingSession(
            checkpoint_dir=str(directory), save_checkpoint_steps=1, scaffold=scaffold
        ) as session:
            first = step = int(session.run(train_op))
            while step < to_step:
                step = int(session.run(train_op))
    return first


def test_a_kill_between_two_deletions(tmp_path):
    directories = [tmp_path / str(number) for number in range(8)]
    root = os.path.dirname(os.path.dirname(graphtrain.__file__))
    answer = subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, directories)],
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    # The list with the old checkpoint, its index, data and graph, and the list without it; then,
    # in the last directory, nothing is left to do.
    ends = json.loads(answer.stdout)
    changes = ends[-1]
    assert ends == [*[-signal.SIGKILL] * changes, *[changes] * (len(ends) - changes)]
    assert changes >= 5
    for number, directory in enumerate(directories):
        before = {path.name for path in directory.glob("model.ckpt-*")}
        listed = [os.path.basename(path) for path in checkpoints.kept(str(directory))]
        # Before the first change the list does not know the newest yet.
        reached = 5 if number == 0 else 6
        assert listed[-1] == f"model.ckpt-{reached}"
        assert any(name.startswith("model.ckpt-4") for name in before) == (number < changes - 1)
        assert train(directory, to_step=8) == reached + 1
        left = {path.stem for path in directory.glob("model.ckpt-*")}
        assert left == {"model.ckpt-7", "model.ckpt-8"}
