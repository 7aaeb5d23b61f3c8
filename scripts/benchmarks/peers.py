"""The case `peers`: our loop against Keras's fit and against the first article's own loop."""

import contextlib
import tempfile

import numpy as np
import tensorflow as tf

from benchmarks import report, small_models, timing
from graphtrain import datasets

_RATE = 0.01
_TARGETS = {("article", 1): 3.0, ("article", 100): 4.0}


def measure(*, batch_size, repeats, models=("softmax", "mlp", "cnn"), steps=None):
    """Times training steps of the same models, batches and optimizer.

    Args:
      batch_size: images in a batch.
      repeats: how often each is timed.
      models: which of `small_models.LOGITS`.
      steps: how many steps are timed at a time; None for an epoch of the sample, or 100 of the CNN.

    Returns:
      A list of figures.
    """
    figures = []
    with small_models.quiet_log():
        for model in models:
            count = steps or (100 if model == "cnn" else 6000 // batch_size)
            figures += _measure(model, batch_size, repeats, count)
    return figures


def _measure(model, batch_size, repeats, steps):
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
