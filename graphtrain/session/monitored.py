"""MonitoredTrainingSession: TensorFlow's, with a session creator, a saver and an end of ours."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.session import checkpoints, global_step, inputs, restore

tf1 = tf.compat.v1

_NOT_GIVEN = object()


class MonitoredSession(tf1.train.MonitoredSession):
    """TensorFlow's `MonitoredSession`, but not every `OutOfRangeError` ends it in peace.

    Leaving its `with` block by an `OutOfRangeError` of the declared input closes it as usual:
    the hooks' `end` runs and the error goes no further. Any other `OutOfRangeError`, such as
    one of a `py_func` in the model, is an error like all others.
    """

    def __exit__(self, exception_type, exception, traceback):
        """Closes the session; see the class."""
        if isinstance(exception, tf.errors.OutOfRangeError) and not inputs.is_end_of_input(
            exception, self.graph
        ):
            tf1.logging.error(
                "op %r raised an OutOfRangeError, which is not the end of the declared input",
                exception.op.name if exception.op is not None else None,
            )
            # TensorFlow takes the type alone for the end of the data.
            exception_type = RuntimeError
        return super().__exit__(exception_type, exception, traceback)


def MonitoredTrainingSession(  # noqa: N802 (TensorFlow's name)
    master="",
    is_chief=True,
    checkpoint_dir=None,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=_NOT_GIVEN,
    save_summaries_steps=_NOT_GIVEN,
    save_summaries_secs=_NOT_GIVEN,
    config=None,
    stop_grace_period_secs=120,
    log_step_count_steps=100,
    max_wait_secs=7200,
    save_checkpoint_steps=_NOT_GIVEN,
    summary_dir=None,
    save_graph_def=True,
):
    """Creates a session that trains the default graph, saves it and resumes it.

    It takes the place of `tf.compat.v1.train.MonitoredTrainingSession`, whose arguments and
    defaults it has. What is different: the global step is made if the graph has none; the
    default saver writes relative paths, so that a run's directory can be moved or copied, and
    it restores its own files whatever the state file says; it logs where it starts; declared
    iterators are initialized; only the input's end counts as the end of the data.

    Args:
      master: str, the TensorFlow master.
      is_chief: bool; a chief initializes or restores, others wait for it.
      checkpoint_dir: str, where checkpoints are restored from and saved to.
      scaffold: `tf.compat.v1.train.Scaffold`, to choose initialization or the saver.
      hooks: iterable of session hooks.
      chief_only_hooks: iterable of session hooks that only a chief runs.
      save_checkpoint_secs: seconds between two checkpoints; 600 if neither interval is given,
        0 or None for none.
      save_summaries_steps: steps between two summaries; 100 if neither interval is given, 0 or
        None for none.
      save_summaries_secs: seconds between two summaries.
      config: `tf.compat.v1.ConfigProto`.
      stop_grace_period_secs: seconds that threads are given to stop at the end.
      log_step_count_steps: steps between two values of steps per second; 0 or None for none.
      max_wait_secs: seconds that a worker waits for its chief.
      save_checkpoint_steps: steps between two checkpoints.
      summary_dir: str, where event files go; by default `checkpoint_dir`.
      save_graph_def: bool, whether the graph is written beside the checkpoints.

    Returns:
      A `MonitoredSession`.

    Raises:
      UsageError: steps and seconds are given for one interval, or the graph's global step is
        not one integer scalar.
      DataError: the directory's state file names checkpoints of which none is there.

    Example:
      >>> step = tf1.train.get_or_create_global_step()
      >>> train_op = tf1.assign_add(step, 1)
      >>> with graphtrain.MonitoredTrainingSession(checkpoint_dir="run") as session:
      ...     int(session.run(train_op))
      1
      >>> with graphtrain.MonitoredTrainingSession(checkpoint_dir="run") as session:
      ...     int(session.run(train_op))
      2
    """
    save_summaries = _interval(
        "save_summaries", save_summaries_steps, save_summaries_secs, default={"save_steps": 100}
    )
    save_checkpoint = _interval(
        "save_checkpoint", save_checkpoint_steps, save_checkpoint_secs, default={"save_secs": 600}
    )
    scaffold = scaffold or tf1.train.Scaffold()
    if scaffold.init_op is None or checkpoint_dir or summary_dir:
        # An init_op of the user's own could not initialize a step that is made now.
        global_step.get_or_create()
        global_step.let_hooks_read_before_increments()
    checkpoints.use_own_saver(scaffold)
    if not is_chief:
        creator = restore.WaitingSessionCreator(
            scaffold, master=master, config=config, max_wait_secs=max_wait_secs
        )
        return MonitoredSession(creator, list(hooks or ()), stop_grace_period_secs)

    creator = restore.RestoringSessionCreator(
        scaffold, master=master, config=config, checkpoint_dir=checkpoint_dir
    )
    all_hooks = list(chief_only_hooks or ())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir and _none_unless_positive(log_step_count_steps):
        all_hooks.append(tf1.train.StepCounterHook(log_step_count_steps, output_dir=summary_dir))
    if summary_dir and save_summaries:
        all_hooks.append(
            tf1.train.SummarySaverHook(**save_summaries, output_dir=summary_dir, scaffold=scaffold)
        )
    if checkpoint_dir and save_checkpoint:
        all_hooks.append(
            tf1.train.CheckpointSaverHook(
                checkpoint_dir,
                **save_checkpoint,
                scaffold=scaffold,
                save_graph_def=save_graph_def,
            )
        )
    all_hooks.extend(hooks or ())
    all_hooks.append(restore.RestoredStepGuard(creator))
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)


def _interval(name, steps, secs, *, default):
    """Returns the interval as arguments of a hook; an empty dict means never."""
    if steps is _NOT_GIVEN and secs is _NOT_GIVEN:
        return default
    steps, secs = (_none_unless_positive(value) for value in (steps, secs))
    if steps and secs:
        raise UsageError(
            f"{name}_steps and {name}_secs cannot both be set, got {steps} steps and {secs} secs: "
            "give one of them."
        )
    if steps:
        return {"save_steps": steps}
    return {"save_secs": secs} if secs else {}


def _none_unless_positive(value):
    return value if value not in (None, _NOT_GIVEN) and value > 0 else None
