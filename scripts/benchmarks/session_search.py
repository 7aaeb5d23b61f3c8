"""The rival of the papers: a search in Python, with a session.run for each trial."""

import tensorflow as tf

from benchmarks import contender

tf1 = tf.compat.v1


def session_search(batch_size, trials):
    """A step that asks the session again and again, as the TF1 code of PAL and SLS does.

    The first run computes loss and gradients, copies weights and step to variables that are
    kept for it, and takes the step. A run for each trial returns the loss at the weights, which
    it moves before if it is not the first.

    Args:
      batch_size: images in the batch.
      trials: how many trials the search makes.
    """
    with tf.Graph().as_default():
        take_step = _step(batch_size, contender.first_rate(trials))
        scale = tf1.placeholder(tf.float32, [])
        with tf.control_dependencies(_move_to(scale)):
            loss_there, _ = contender.cnn_loss(batch_size)
        loss_here, _ = contender.cnn_loss(batch_size)
        session = contender.started_session()
    take_step = session.make_callable(take_step)
    loss_here = session.make_callable(loss_here)
    loss_at = session.make_callable(loss_there, feed_list=[scale])
    least_scale = contender.least_scale(trials)

    def search():
        loss_before = take_step()
        scale, trials_made = 1.0, 1
        loss_after = loss_here()
        while not loss_after < loss_before and scale * contender.SHRINK >= least_scale:
            scale, trials_made = scale * contender.SHRINK, trials_made + 1
            loss_after = loss_at(scale)
        return trials_made

    return contender.Contender(search, search)


def _step(batch_size, rate):
    """The loss before the step, once the step has been taken."""
    loss, update_ops = contender.cnn_loss(batch_size)
    optimizer = tf1.train.GradientDescentOptimizer(rate)
    grads_and_vars = optimizer.compute_gradients(loss)
    with tf.control_dependencies([loss, *update_ops]):
        kept = []
        for gradient, variable in grads_and_vars:
            kept.append(_kept(variable, "before").assign(variable.read_value()))
            kept.append(_kept(variable, "step").assign(-rate * gradient))
    with tf.control_dependencies(kept):
        step = optimizer.apply_gradients(grads_and_vars)
    with tf.control_dependencies([step]):
        return tf.identity(loss)


def _move_to(scale):
    return [
        variable.assign(_kept(variable, "before") + scale * _kept(variable, "step"))
        for variable in tf1.trainable_variables()
    ]


def _kept(variable, name):
    with tf1.variable_scope("kept", reuse=tf1.AUTO_REUSE):
        return tf1.get_variable(
            f"{variable.op.name}/{name}", variable.shape, variable.dtype, trainable=False
        )
