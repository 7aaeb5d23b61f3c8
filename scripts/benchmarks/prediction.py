"""The case `predict`: an Estimator's prediction and evaluation, against bare loops."""

import collections
import tempfile
import time

import numpy as np
import tensorflow as tf

import graphtrain
from benchmarks import report, small_models, timing
from graphtrain import datasets, models
from graphtrain.session import inputs

tf1 = tf.compat.v1

EPOCHS = {"mlp": 5, "cnn": 1}
_MODEL_FNS = {"mlp": models.mlp_model_fn, "cnn": models.cnn_model_fn}
_AT_MOST = 1.1
_PAIRS = {
    "predict, batches": "bare prediction",
    "predict, examples": "bare prediction",
    "evaluate": "bare evaluation",
}


def measure(*, batch_size, repeats, models=tuple(EPOCHS), epochs=None, warm_up_calls=1):
    """Times them from the first batch on, and the start up to that apart.

    Args:
      batch_size: images in a batch.
      repeats: how often each is timed.
      models: which of `EPOCHS`.
      epochs: how many epochs of the sample are timed at a time; None for `EPOCHS`.
      warm_up_calls: how often each is called before.

    Returns:
      A list of figures.
    """
    figures = []
    with small_models.quiet_log():
        for model in models:
            count = epochs or EPOCHS[model]
            figures += _measure(model, batch_size, repeats, count, warm_up_calls)
    return figures


def _measure(model, batch_size, repeats, epochs, warm_up_calls):
    data = datasets.load("sample")

    def input_fn():
        return datasets.image_input_fn(
            data.train_images, data.train_labels, batch_size=batch_size, epochs=epochs
        )()

    images = epochs * len(data.train_images)
    steps = epochs * datasets.steps_per_epoch(len(data.train_images), batch_size)
    with tempfile.TemporaryDirectory() as directory:
        trained = graphtrain.Estimator(_MODEL_FNS[model], directory, params={})
        trained.train(input_fn, max_steps=1)
        bare = _Bare(_MODEL_FNS[model], trained.latest_checkpoint(), input_fn)
        measured = timing.in_turn(
            {
                "bare prediction": lambda: _of_stream(bare.predict()),
                "predict, batches": lambda: _of_stream(
                    trained.predict(input_fn, yield_single_examples=False)
                ),
                "predict, examples": lambda: _of_stream(trained.predict(input_fn)),
                "bare evaluation": lambda: _of_lengths(bare.evaluate, steps),
                "evaluate": lambda: _of_lengths(lambda n: trained.evaluate(input_fn, n), steps),
            },
            repeats=repeats,
            warm_up_calls=warm_up_calls,
        )
    start = {name: parts[:, 0] for name, parts in measured.items()}
    rest = {name: parts[:, 1] for name, parts in measured.items()}
    # The first batch belongs to the start.
    return _figures(model, start, rest, images - batch_size)


def _of_stream(items):
    """Seconds to the first of the items, and from there to the last."""
    began = time.perf_counter()
    next(items)
    first = time.perf_counter()
    collections.deque(items, maxlen=0)
    return first - began, time.perf_counter() - first


def _of_lengths(evaluate, steps):
    """Seconds to the end of an evaluation of one batch, and how many more `steps` of them take."""
    began = time.perf_counter()
    evaluate(1)
    ended = time.perf_counter()
    evaluate(steps)
    start = ended - began
    return start, time.perf_counter() - ended - start


class _Bare:
    """What a careful user would write who has a model_fn, a checkpoint, and no library.

    Args:
      model_fn: as an Estimator takes it.
      checkpoint: path of the checkpoint.
      input_fn: as an Estimator takes it.
    """

    def __init__(self, model_fn, checkpoint, input_fn):
        self._model_fn, self._checkpoint, self._input_fn = model_fn, checkpoint, input_fn

    def predict(self):
        """Yields the predictions of batches."""
        # No `with` block: what is entered in a generator is entered for its caller as well.
        graph = tf.Graph()
        with graph.as_default():
            spec = self._spec(graphtrain.ModeKeys.PREDICT)
            session = self._started()
        while True:
            try:
                yield session.run(spec.predictions)
            except tf.errors.OutOfRangeError:
                break
        session.close()

    def evaluate(self, steps):
        """Returns the metrics of so many batches."""
        with tf.Graph().as_default():
            spec = self._spec(graphtrain.ModeKeys.EVAL)
            metrics = {**spec.eval_metric_ops, "loss": tf1.metrics.mean(spec.loss)}
            update = tf.group(*(update for _, update in metrics.values()))
            with self._started() as session:
                for _ in range(steps):
                    session.run(update)
                return session.run({name: value for name, (value, _) in metrics.items()})

    def _spec(self, mode):
        tf1.train.get_or_create_global_step()
        features, labels = inputs.features_and_labels(self._input_fn())
        labels = None if mode == graphtrain.ModeKeys.PREDICT else labels
        return self._model_fn(features, labels, mode, {})

    def _started(self):
        saver = tf1.train.Saver()
        initializers = [tf1.local_variables_initializer(), tf1.tables_initializer()]
        session = tf1.Session(graph=tf1.get_default_graph())
        session.run(initializers)
        saver.restore(session, self._checkpoint)
        inputs.initialize(session)
        return session


def _figures(model, start, rest, images):
    figures = []
    for name, secs in rest.items():
        rates = images / secs
        figures.append(
            report.Figure(f"{model}: {name}", "images/s", float(np.median(rates)), rates.max())
        )
    for name in start:
        figures.append(
            report.milliseconds(f"{model}: start of {name}", start, lambda t, name=name: t[name])
        )
    for ours, bare in _PAIRS.items():

        def over(times, ours=ours, bare=bare):
            return times[ours] / times[bare]

        figures.append(
            report.ratio(f"{model}: {ours} / {bare}, time", rest, over, at_most=_AT_MOST)
        )
        figures.append(report.ratio(f"{model}: {ours} / {bare}, start", start, over))
    return figures
