"""The case `peers`: our loop against Keras's fit and against the first article's own loop."""

import contextlib
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import tensorflow as tf
from absl import flags

from benchmarks import report, small_models, timing
from graphtrain import datasets
from graphtrain.errors import UsageError

# benchmark.py calls define_flags, and owns the flags: its --helpshort shows them.
flags.disclaim_key_flags()

_RATE = 0.01
_PROCESSES = 5
OLD_ESTIMATOR_STEPS = {"softmax": 4000, "mlp": 4000, "cnn": 300}
_TARGETS = {("article", 1): 3.0, ("article", 100): 4.0}


def define_flags(flag_values):
    """Defines the flag that only this case has."""
    flags.DEFINE_string(
        "estimator_python",
        None,
        "peers: an interpreter that has TensorFlow 2.15, whose tf.estimator is measured too",
        flag_values,
    )


def measure(
    *, batch_size, repeats, models=("softmax", "mlp", "cnn"), steps=None, estimator_python=None
):
    """Times training steps of the same models, batches and optimizer.

    Args:
      batch_size: images in a batch.
      repeats: how often each is timed.
      models: which of `small_models.LOGITS`.
      steps: how many steps are timed at a time; None for an epoch of the sample, or 100 of the CNN.
      estimator_python: the interpreter of an environment that has tf.estimator, or None.

    Returns:
      A list of figures.
    """
    figures = []
    with small_models.quiet_log():
        for model in models:
            count = steps or (100 if model == "cnn" else 6000 // batch_size)
            figures += _measure(model, batch_size, repeats, count, estimator_python)
    return figures


def _measure(model, batch_size, repeats, steps, estimator_python):
    arguments = {"batch_size": batch_size, "searched": False}
    with contextlib.ExitStack() as stack:
        rivals = {
            "fit, steps_per_execution=1": _keras_fit(model, batch_size, steps_per_execution=1),
            "fit, steps_per_execution=100": _keras_fit(
                model, batch_size, steps_per_execution=min(100, steps)
            ),
        }
        if model == "mlp":
            rivals["article"] = _article_loop(stack, batch_size)
        ours = {
            steps_per_run: small_models.our_loop(
                stack, model, steps_per_run=steps_per_run, **arguments
            )
            for steps_per_run in (1, 100)
        }
        runs = {name: lambda run=run: run(steps) for name, run in {**rivals, **ours}.items()}
        seconds = timing.paired(runs, repeats=repeats)
        if estimator_python is not None:
            _add_old_estimator(seconds, estimator_python, model, batch_size, runs[1], steps)
            rivals["tf.estimator"] = None
    figures = [report.milliseconds(f"{model}: our step", seconds, lambda t: t[1] / steps)]
    for name in rivals:
        for steps_per_run in ours:
            target = _TARGETS.get((name, steps_per_run), 1.0)
            figures.append(
                report.ratio(
                    f"{model}: {name} / ours, steps_per_run={steps_per_run}",
                    seconds,
                    lambda t, pair=(name, steps_per_run): t[pair[0]] / t[pair[1]],
                    at_least=target,
                )
            )
    return figures


def _add_old_estimator(seconds, python, model, batch_size, our_run, steps):
    """Times tf.estimator in a process of its own, ours before and after it, as often as there."""
    sample = pathlib.Path(datasets.__file__).parent / "mnist_sample.npz"
    script = pathlib.Path(__file__).parent / "old_estimator.py"
    runs = max(1, OLD_ESTIMATOR_STEPS[model] // steps)
    command = [python, str(script), model, str(batch_size), str(runs * steps), str(sample)]

    def ours():
        began = time.perf_counter()
        for _ in range(runs):
            our_run()
        return (time.perf_counter() - began) / runs

    theirs = []
    own = [ours()]
    for _ in range(_PROCESSES):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            raise UsageError(
                f"estimator_python={python!r} cannot be used: it ended with {lines[-1:]}; give the "
                "interpreter of an environment that has TensorFlow 2.15"
            )
        theirs.append(steps * float(done.stdout.rpartition(":")[2]))
        own.append(ours())
    beside = (np.array(own[1:]) + own[:-1]) / 2
    # As a time within each of the turns that the others were timed in.
    seconds["tf.estimator"] = seconds[1] * np.median(theirs / beside)


def _dataset(batch_size):
    data = datasets.load("sample")
    images = (data.train_images[..., None] / 255).astype(np.float32)
    rows = tf.data.Dataset.from_tensor_slices((images, data.train_labels))
    return rows.shuffle(6000).repeat().batch(batch_size).prefetch(tf.data.AUTOTUNE)


def _keras_model(model):
    keras = tf.keras
    layers = [keras.layers.Input((28, 28, 1))]
    if model == "cnn":
        for filters in (32, 128):
            layers += [
                keras.layers.Conv2D(filters, 3, padding="same", use_bias=False),
                keras.layers.BatchNormalization(momentum=0.9),
                keras.layers.ReLU(),
                keras.layers.AveragePooling2D(2),
            ]
        layers += [
            keras.layers.Conv2D(10, 7, use_bias=False),
            keras.layers.BatchNormalization(momentum=0.9),
            keras.layers.Flatten(),
        ]
    else:
        layers.append(keras.layers.Flatten())
        if model == "mlp":
            layers.append(keras.layers.Dense(128, activation="relu"))
        layers.append(keras.layers.Dense(10))
    return keras.Sequential(layers)


def _keras_fit(model, batch_size, *, steps_per_execution):
    network = _keras_model(model)
    network.compile(
        optimizer=tf.keras.optimizers.SGD(_RATE),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        steps_per_execution=steps_per_execution,
    )
    dataset = _dataset(batch_size)
    return lambda steps: network.fit(dataset, steps_per_epoch=steps, epochs=1, verbose=0)


def _article_loop(stack, batch_size):
    """Batches taken in Python, a compiled step with a gradient tape, a summary of each step."""
    network = _keras_model("mlp")
    optimizer = tf.keras.optimizers.SGD(_RATE)
    compute_loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    mean_loss = tf.keras.metrics.Mean()
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    writer = tf.summary.create_file_writer(stack.enter_context(tempfile.TemporaryDirectory()))

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            logits = network(images, training=True)
            loss = compute_loss(labels, logits)
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        mean_loss(loss)
        accuracy(labels, logits)

    batches = iter(_dataset(batch_size))

    def run(steps):
        for _ in range(steps):
            train_step(*next(batches))
            with writer.as_default(step=int(optimizer.iterations)):
                tf.summary.scalar("loss", mean_loss.result())
                tf.summary.scalar("accuracy", accuracy.result())

    return run
