"""How many copies of the weights a searched step needs beyond a plain one."""

import gc
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import tensorflow as tf

import graphtrain
from benchmarks import contender
from graphtrain import datasets
from graphtrain.models.mlp import mlp_logits

tf1 = tf.compat.v1

# The weights of the hidden layer are one array of 40 MB. malloc asks the system for an array
# that large, and gives it back as soon as it is freed, so that the process's size shows it.
HIDDEN_UNITS = 12800
_RESET = pathlib.Path("/proc/self/clear_refs")


def is_measurable():
    """Whether this system tells the greatest size of a process; Linux does."""
    return os.access(_RESET, os.W_OK)


def extra_copies(**settings):
    """Measures a step of SGD over a large perceptron, with our search and without.

    Args:
      **settings: see `_extra_copies`.

    Returns:
      float [searches, repeats], the greatest size of the process during a searched step less
      that during a plain one, in units of the weights' size.
    """
    # With oneDNN, TensorFlow keeps the memory that it once had: hence a process without.
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory", json.dumps(settings)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "TF_ENABLE_ONEDNN_OPTS": "0",
        },
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout
    return np.array(json.loads(answer))


def _extra_copies(*, batch_size, trials, repeats=5, hidden_units=HIDDEN_UNITS):
    """As `extra_copies`, in this process.

    Args:
      batch_size: images in the batch.
      trials: list of int, how many trials each search makes.
      repeats: how often each is measured.
      hidden_units: units of the hidden layer.
    """
    sgd = tf1.train.GradientDescentOptimizer
    plain = _growth(sgd(contender.RATE), batch_size, repeats, hidden_units)
    searches = [
        graphtrain.LineSearchOptimizer(
            sgd(contender.first_rate(count)),
            shrink=contender.SHRINK,
            min_scale=contender.least_scale(count),
        )
        for count in trials
    ]
    return [
        (_growth(search, batch_size, repeats, hidden_units) - plain).tolist() for search in searches
    ]


def _growth(optimizer, batch_size, repeats, hidden_units):
    """By how much a step makes the process larger than it is at rest, float [repeats]."""
    data = datasets.load("sample")
    with tf.Graph().as_default():
        images = tf.constant(data.train_images[:batch_size, ..., None] / 255, tf.float32)
        logits = mlp_logits(images, hidden_units=[hidden_units], seed=0)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=data.train_labels[:batch_size], logits=logits
            )
        )
        train_op = optimizer.minimize(loss)
        weights = sum(v.shape.num_elements() for v in tf1.trainable_variables()) * 4
        with contender.started_session() as session:
            step = session.make_callable(train_op)
            step()
            return np.array([_grown(step) / weights for _ in range(repeats)])


def _grown(step):
    gc.collect()
    at_rest = _status("VmRSS")
    _RESET.write_text("5")
    step()
    return _status("VmHWM") - at_rest


def _status(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    (value,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(value) * 1024


if __name__ == "__main__":
    print(json.dumps(_extra_copies(**json.loads(sys.argv[1]))))
