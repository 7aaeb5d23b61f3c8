"""Early stopping: the chief decides, and a variable tells all workers."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator.estimator import Estimator
from graphtrain.hooks._periodic import PeriodicHook
from graphtrain.optimize import search_state

tf1 = tf.compat.v1


def make_early_stopping_hook(estimator, should_stop_fn, run_every_secs=60, run_every_steps=None):
    """Makes a hook that ends the training when a function says so.

    Give it to `train`, or to the `TrainSpec`, in every process: the function is called in the
    chief only; its decision is in a variable of the model, which the other workers read. A run
    that was stopped and is started again stops before its first step, unless the function has
    changed its mind.

    Args:
      estimator: the `Estimator` that is trained.
      should_stop_fn: callable without arguments that returns whether to stop: a bool, or the
        reason as a str (which `TrainResult.stop_reason` then has).
      run_every_secs: seconds > 0 from one call to the next; None if `run_every_steps` is given.
      run_every_steps: int >= 1; the function is called at multiples of it.

    Returns:
      A session hook.

    Raises:
      TypeError: the estimator is no `Estimator`, or the function cannot be called.
      UsageError: both intervals are given, or none.

    Example:
      >>> def model_fn(features, labels, mode):
      ...     step = tf1.train.get_global_step()
      ...     loss = 1.0 / tf.cast(step + 1, tf.float32)
      ...     return graphtrain.EstimatorSpec(mode, features, loss, tf1.assign_add(step, 1))
      >>> estimator = graphtrain.Estimator(model_fn, "run")
      >>> hook = make_early_stopping_hook(
      ...     estimator, lambda: "enough", run_every_secs=None, run_every_steps=3)
      >>> result = estimator.train(lambda: tf.constant(1.0), hooks=[hook]).last_train_result
      >>> result.reason, result.stop_reason
      ('stop_requested', 'enough')
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"estimator must be a graphtrain.Estimator, got {estimator!r}.")
    if not callable(should_stop_fn):
        raise TypeError(f"should_stop_fn must be callable, got {should_stop_fn!r}.")
    if (run_every_secs is None) == (run_every_steps is None):
        raise UsageError(
            f"run_every_secs={run_every_secs!r} and run_every_steps={run_every_steps!r} cannot be "
            "used: give one of them and set the other to None."
        )
    if not estimator.config.is_chief:
        return FollowingHook()
    return DecidingHook(should_stop_fn, every_secs=run_every_secs, every_steps=run_every_steps)


class DecidingHook(PeriodicHook):
    """The chief's hook: asks the function, and writes the flag.

    Args:
      should_stop_fn: see `make_early_stopping_hook`.
      **when: `every_steps`, or `every_secs` and a `clock`; see `PeriodicHook`.
    """

    def __init__(self, should_stop_fn, **when):
        super().__init__({}, first_step=True, **when)
        self._should_stop_fn = should_stop_fn
        self._monitored_session = None

    def on_session(self, session):
        """Takes the session of ours, which can be told the reason."""
        self._monitored_session = session

    def begin(self):
        """Makes the flag, and the ops that write it."""
        super().begin()
        flag = _flag()
        self._raise_flag, self._lower_flag = tf1.assign(flag, True), tf1.assign(flag, False)

    def after_create_session(self, session, coord):
        """Decides anew, whatever a restored flag says."""
        super().after_create_session(session, coord)
        self._session = session
        session.run(self._lower_flag)
        self._decide(coord.request_stop)

    def after_run(self, run_context, run_values):
        """Decides, if it is time to."""
        self._request_stop = run_context.request_stop
        super().after_run(run_context, run_values)

    def report(self, step, values):
        """Called when it is time to decide."""
        del step, values
        self._decide(self._request_stop)

    def _decide(self, request_stop):
        decision = self._should_stop_fn()
        if not decision:
            return
        reason = decision if isinstance(decision, str) else "should_stop_fn said so"
        tf1.logging.info("early stopping: %s", reason)
        self._session.run(self._raise_flag)
        if self._monitored_session is not None:
            self._monitored_session.request_stop(reason)
        request_stop()


class FollowingHook(tf1.train.SessionRunHook):
    """The hook of a worker that is no chief: reads the flag at each run."""

    def begin(self):
        """Makes the flag."""
        self._flag = _flag()

    def before_run(self, run_context):
        """Asks for the flag."""
        del run_context
        return tf1.train.SessionRunArgs(self._flag)

    def after_run(self, run_context, run_values):
        """Stops if the flag is up."""
        if run_values.results:
            tf1.logging.info("early stopping: the chief has said so")
            run_context.request_stop()


def _flag():
    """Makes the next flag of the graph; the first has the name that tf.estimator gave it."""
    with tf1.variable_scope(None, default_name="signal_early_stopping"):
        flag = tf1.get_variable("STOP", [], tf.bool, tf1.zeros_initializer(), trainable=False)
    # So that a run can go on with early stopping switched on.
    tf1.add_to_collection(search_state.COLLECTION, flag)
    return flag
