"""The metrics of earlier evaluations, read from their event files."""

import os

import tensorflow as tf

tf1 = tf.compat.v1


def read_metrics(pattern):
    """Returns the scalar metrics that evaluations wrote.

    A file that ends in the middle of an event, because its writer was killed or is still at
    work, counts as far as it goes.

    Args:
      pattern: str, a file pattern such as "run/eval/*.tfevents.*"; of a directory, its event
        files.

    Returns:
      Dict from global step, ascending, to a dict from metric name to float. Of a step that was
      evaluated twice, the later values.

    Example:
      >>> with tf.Graph().as_default(), tf1.summary.FileWriter("eval") as writer:
      ...     value = tf1.Summary.Value(tag="loss", simple_value=0.5)
      ...     writer.add_summary(tf1.Summary(value=[value]), global_step=10)
      >>> read_metrics("eval")
      {10: {'loss': 0.5}}
    """
    if tf.io.gfile.isdir(pattern):
        pattern = os.path.join(pattern, "*.tfevents.*")
    metrics = {}
    # Their names begin with the time, so that this is the order they were written in.
    for path in sorted(tf.io.gfile.glob(pattern)):
        for event in _events(path):
            scalars = {v.tag: v.simple_value for v in event.summary.value if _is_scalar(v)}
            if scalars:
                metrics.setdefault(event.step, {}).update(scalars)
    return dict(sorted(metrics.items()))


def _events(path):
    try:
        yield from tf1.train.summary_iterator(path)
    except tf.errors.DataLossError:
        tf1.logging.warning("the event file %s ends in the middle of an event", path)


def _is_scalar(value):
    return value.WhichOneof("value") == "simple_value"
