"""The rival of the second article: its search, as it gives it, in one graph."""

import tensorflow as tf

from benchmarks import contender

tf1 = tf.compat.v1


def article_search(batch_size, trials, *, with_metrics=False):
    """A step that makes everything anew in each trial.

    A trial is a forward and a backward pass for the gradients, a forward pass for the loss
    before, the step, and a forward pass for the loss after; all in training mode. If the loss
    did not fall, the weights are put back and a smaller rate is tried.

    Args:
      batch_size: images in the batch.
      trials: how many trials the search makes.
      with_metrics: whether the step begins with a forward pass of its own for the metrics of
        the batch, as the article's whole step does.
    """
    with tf.Graph().as_default():
        loss, update_ops = contender.cnn_loss(batch_size)  # Makes the variables, too.
        with tf.control_dependencies([loss, *update_ops] if with_metrics else []):
            train_op, trials_made = _search(
                batch_size,
                first_rate=contender.first_rate(trials),
                least_scale=contender.least_scale(trials),
            )
        session = contender.started_session()
        return contender.Contender(
            session.make_callable(train_op), lambda: int(session.run(trials_made))
        )


def _search(batch_size, *, first_rate, least_scale):
    variables = tf1.trainable_variables()
    weights_before = [variable.read_value() for variable in variables]

    def loss_now():
        loss, update_ops = contender.cnn_loss(batch_size)
        with tf.control_dependencies(update_ops):
            return tf.identity(loss)

    def goes_on(trials, scale, fell):
        return (trials < 1) | (~fell & (scale >= least_scale))

    def one_trial(trials, scale, fell):
        del fell
        back = [v.assign(w) for v, w in zip(variables, weights_before, strict=True)]
        with tf.control_dependencies(back):
            optimizer = tf1.train.GradientDescentOptimizer(first_rate * scale)
            grads_and_vars = optimizer.compute_gradients(loss_now(), variables)
        with tf.control_dependencies([gradient for gradient, _ in grads_and_vars]):
            loss_before = loss_now()
        with tf.control_dependencies([loss_before]):
            step = optimizer.apply_gradients(grads_and_vars)
        with tf.control_dependencies([step]):
            loss_after = loss_now()
        return trials + 1, scale * contender.SHRINK, loss_after < loss_before

    with tf.control_dependencies(weights_before):
        start = (tf.constant(0), tf.constant(1.0), tf.constant(False))
    outcome = tf1.while_loop(goes_on, one_trial, start, parallel_iterations=1)
    return tf.group(outcome), outcome[0]
