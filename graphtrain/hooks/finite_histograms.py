"""Histograms that are left out of a summary while their values are not finite.

TensorFlow's histogram op fails at a nan, which would end the run, whatever is to be done about
nans.
"""

import tensorflow as tf

from graphtrain.optimize.control_flow import control_flow_v2

tf1 = tf.compat.v1


def without_bad_histograms(summary_op):
    """Returns a summary op that leaves out what `summary_op` would fail at.

    Args:
      summary_op: string scalar tensor, what `tf.compat.v1.summary.merge_all` returned.

    Returns:
      String scalar tensor, and a list of str, the tags of its histograms.

    Example:
      >>> _ = tf1.summary.histogram("good", [1.0])
      >>> _ = tf1.summary.histogram("bad", [1.0, np.nan])
      >>> summary_op, tags = without_bad_histograms(tf1.summary.merge_all())
      >>> with tf1.Session() as session:
      ...     summary = tf1.Summary.FromString(session.run(summary_op))
      >>> tags, [value.tag for value in summary.value]
      (['good', 'bad'], ['good'])
    """
    if summary_op.op.type != "MergeSummary":
        return summary_op, []
    parts, tags = [], []
    for part in summary_op.op.inputs:
        if part.op.type == "HistogramSummary" and part.op.inputs[1].dtype.is_floating:
            tag, values = part.op.inputs
            parts.append(_if_finite(tag, values))
            tags.append(tf.get_static_value(tag).item().decode())
        else:
            parts.append(part)
    if not tags:
        return summary_op, []
    return tf.raw_ops.MergeSummary(inputs=parts), tags


def _if_finite(tag, values):
    with control_flow_v2(True), tf1.device("/cpu:0"):
        return tf.cond(
            tf.reduce_all(tf.math.is_finite(values)),
            lambda: tf.raw_ops.HistogramSummary(tag=tag, values=values),
            lambda: tf.constant(b""),
        )
