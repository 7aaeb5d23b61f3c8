"""The same fetches run time and again, without what a monitored session adds to each run."""

import tensorflow as tf

from graphtrain.hooks.quiet import QuietHooks

tf1 = tf.compat.v1


def prepared_run(session, fetches):
    """Returns a function that runs fetches, by a callable that TensorFlow has prepared.

    A session whose hooks want to see runs makes them as always. The other way a session that was
    lost is an error: what an evaluation or a prediction has done so far would be lost with it.

    Args:
      session: an open `graphtrain.session.monitored.MonitoredSession`.
      fetches: as for `tf.compat.v1.Session.run`.

    Returns:
      A function without arguments that returns the values of `fetches`.

    Example:
      >>> step = tf1.train.get_or_create_global_step()
      >>> count = {"step": tf1.assign_add(step, 1)}
      >>> with graphtrain.MonitoredTrainingSession() as session:
      ...     run = prepared_run(session, count)
      ...     int(run()["step"]), int(run()["step"])
      (1, 2)
    """
    if QuietHooks(session.hooks).are_called:
        return lambda: session.run(fetches)
    return session._tf_sess().make_callable(fetches)
