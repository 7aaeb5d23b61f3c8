"""Moving averages of the weights in the place of the weights: for evaluation and export."""

import tensorflow as tf

from graphtrain.optimize import moving_average

tf1 = tf.compat.v1


def averages_scaffold(scaffold=None, *, suffix=moving_average.SUFFIX):
    """Returns a scaffold that restores the averages of the weights, in a model_fn.

    A variable whose average is not in the checkpoint keeps its own value; the log lists them.
    Use it in evaluation and prediction (which export builds), not in training:

        scaffold = None if mode == ModeKeys.TRAIN else averages_scaffold()
        return EstimatorSpec(mode, ..., scaffold=scaffold)

    Args:
      scaffold: `tf.compat.v1.train.Scaffold`, not finalized, whose other parts are taken over.
      suffix: str, the end of the averages' names, after "VARIABLE/": the `name` of a
        `tf.train.ExponentialMovingAverage`.

    Returns:
      A `tf.compat.v1.train.Scaffold` whose saver is an `AveragesSaver`.

    Example:
      >>> w = tf1.get_variable("w", initializer=1.0)
      >>> ema = tf.train.ExponentialMovingAverage(0.75)
      >>> with tf.control_dependencies([tf1.assign(w, 0.0)]):
      ...     train_op = ema.apply([w])
      >>> with tf1.Session() as session:
      ...     session.run(tf1.global_variables_initializer())
      ...     session.run(train_op)
      ...     path = tf1.train.Saver().save(session, "model.ckpt")
      >>> with tf.Graph().as_default(), tf1.Session() as session:
      ...     w = tf1.get_variable("w", initializer=1.0)
      ...     averages_scaffold().saver.restore(session, path)
      ...     float(session.run(w))
      0.75
    """
    return tf1.train.Scaffold(saver=AveragesSaver(suffix=suffix), copy_from_scaffold=scaffold)


class AveragesSaver(tf1.train.Saver):
    """A saver that restores the averages of the trainable variables into these.

    Args:
      suffix: str, the end of the averages' names.
    """

    def __init__(self, *, suffix=moving_average.SUFFIX):
        # Built late, when all variables are there.
        super().__init__(sharded=True, allow_empty=True, defer_build=True)
        self._suffix = suffix

    def restore(self, sess, save_path):
        """Restores all variables, then puts the averages in the place of the trainable ones.

        Args:
          sess: `tf.compat.v1.Session`.
          save_path: str, the checkpoint's path without extension.
        """
        self.build()  # Unless it was built before.
        super().restore(sess, save_path)
        reader = tf.train.load_checkpoint(save_path)
        without = []
        for variable in sess.graph.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES):
            name, part = _in_checkpoint(variable)
            average = f"{name}/{self._suffix}"
            if reader.has_tensor(average):
                initializer = variable.initializer
                value = reader.get_tensor(average)[part]
                sess.run(initializer, {initializer.inputs[1]: value})
            else:
                without.append(variable.op.name)
        if without:
            tf1.logging.warning(
                "%s has no averages of %s: they keep their own values",
                save_path,
                ", ".join(without),
            )


def _in_checkpoint(variable):
    """The name of a variable in a checkpoint, and which part of that it is.

    Only this attribute knows the whole that a part belongs to.
    """
    part = variable._save_slice_info
    if part is None:
        return variable.op.name, ...
    ends = zip(part.var_offset, part.var_shape, strict=True)
    return part.full_name, tuple(slice(start, start + size) for start, size in ends)
