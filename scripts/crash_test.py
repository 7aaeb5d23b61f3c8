"""Kills a training process again and again, and compares what it ends with to an unbroken run.

Half of the kills come at random moments, half while a checkpoint is being written. After each the
same command is started again, until the run is done.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import _quiet  # noqa: F401
import numpy as np
import tensorflow as tf
from absl import flags

import graphtrain
from graphtrain import app
from graphtrain.models import layers
from graphtrain.session import checkpoint_files, checkpoints, inputs

tf1 = tf.compat.v1

STEPS_PER_KILL = 300
SAVE_STEPS = 20
LONGEST_LIFE_SECS = 0.6
STARTED = "training"


def define_flags(flag_values=flags.FLAGS):
    flags.DEFINE_integer("kills", 8, "how often to kill", 1, flag_values=flag_values)
    flags.DEFINE_integer("seed", 1, "seed of the kills' moments", flag_values=flag_values)
    flags.DEFINE_string("train_dir", None, "only train, in this folder", flag_values)


def main(values):
    steps = values.kills * STEPS_PER_KILL
    if values.train_dir is not None:
        with tf.Graph().as_default():
            train(values.train_dir, steps)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        unbroken, broken = os.path.join(folder, "unbroken"), os.path.join(folder, "broken")
        run_to_the_end(unbroken, values.kills)
        in_save = kill_until_done(broken, values.kills, random.Random(values.seed))
        different = differences(unbroken, broken)
    print(
        f"{values.kills} kills, {in_save} of them inside a save; after {steps} steps "
        + (f"different: {', '.join(different)}" if different else "all is equal bit for bit")
    )
    return 1 if different else 0


def train(directory, steps):
    """Trains a small network by line search on batches that are shuffled and mapped in threads."""
    rows = np.random.RandomState(0).randn(1000, 8).astype(np.float32)
    tf1.set_random_seed(1)
    dataset = tf.data.Dataset.from_tensor_slices((rows, (rows.sum(axis=1) > 0).astype(np.int64)))
    dataset = dataset.shuffle(300).repeat().map(lambda x, y: (x * 2, y), num_parallel_calls=2)
    features, labels = inputs.features_and_labels(dataset.batch(16).prefetch(2))
    hidden = layers.batch_norm(layers.dense(features, 16), training=True)
    hidden = layers.dropout(tf.nn.relu(hidden), rate=0.2, training=True)
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, layers.dense(hidden, 2))
    optimizer = graphtrain.LineSearchOptimizer(
        tf1.train.AdamOptimizer(0.01), shrink=0.5, min_scale=1e-3, first_scale="grow"
    )
    step = tf1.train.get_or_create_global_step()
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step=step)
    with graphtrain.MonitoredTrainingSession(
        checkpoint_dir=directory,
        save_checkpoint_steps=SAVE_STEPS,
        hooks=[tf1.train.StopAtStepHook(last_step=steps)],
    ) as session:
        print(STARTED, flush=True)
        while not session.should_stop():
            session.run(train_op)


def start(directory, kills):
    """Starts the training in a process of its own."""
    return subprocess.Popen(
        [sys.executable, __file__, f"--train_dir={directory}", f"--kills={kills}"],
        stdout=subprocess.PIPE,
        text=True,
    )


def run_to_the_end(directory, kills):
    """Runs the training until it ends by itself."""
    code = start(directory, kills).wait()
    if code != 0:
        raise RuntimeError(f"The training process ended with code {code}.")


def kill_until_done(directory, kills, chance):
    """Runs the training to its end through so many kills; returns how many hit a save."""
    in_save = 0
    for number in range(kills):
        process = start(directory, kills)
        process.stdout.readline()
        time.sleep(chance.uniform(0, LONGEST_LIFE_SECS))
        if number % 2 == 0:
            wait_for_a_save(directory, process, chance)
        in_save += is_saving(directory)
        process.send_signal(signal.SIGKILL)
        process.wait()
    run_to_the_end(directory, kills)
    return in_save


def wait_for_a_save(directory, process, chance):
    """Waits until the process is somewhere inside a save."""
    while process.poll() is None and not is_saving(directory):
        pass
    time.sleep(chance.uniform(0, 0.02))


def is_saving(directory):
    return pathlib.Path(directory, checkpoint_files.UNFINISHED).exists()


def differences(one, other):
    """Returns the names of the variables that two runs do not share to the last bit."""
    values = [_tensors(checkpoints.newest(directory)) for directory in (one, other)]
    names = sorted(values[0].keys() | values[1].keys())
    return [name for name in names if values[0].get(name) != values[1].get(name)]


def _tensors(path):
    reader = tf.train.load_checkpoint(path)
    types = reader.get_variable_to_dtype_map()
    return {name: reader.get_tensor(name).tobytes() for name in types if types[name] != tf.variant}


if __name__ == "__main__":
    define_flags()
    app.run(main)
