"""MonitoredTrainingSession: TensorFlow's, with a session creator, a saver and an end of ours."""

import tensorflow as tf

from graphtrain.distribute import agreement
from graphtrain.errors import UsageError
from graphtrain.hooks.step_rate import StepRateHook
from graphtrain.hooks.summaries import SummaryHook
from graphtrain.optimize import rate_scale
from graphtrain.session import (
    checkpoints,
    global_step,
    input_position,
    restore,
    synchronized,
    waiting_session,
)
from graphtrain.session.event_marks import EventMarks
from graphtrain.session.intervals import NOT_GIVEN, interval, none_unless_positive
from graphtrain.session.monitored_session import MonitoredSession
from graphtrain.session.safety import SafetyConfig
from graphtrain.session.saver_hook import SaverHook
from graphtrain.session.worker_input import WorkerInput
from graphtrain.session.writer_lock import WriterLock

tf1 = tf.compat.v1


def MonitoredTrainingSession(  # noqa: N802 (TensorFlow's name)
    master="",
    is_chief=True,
    checkpoint_dir=None,
    scaffold=None,
    hooks=None,
    chief_only_hooks=None,
    save_checkpoint_secs=NOT_GIVEN,
    save_summaries_steps=NOT_GIVEN,
    save_summaries_secs=NOT_GIVEN,
    config=None,
    stop_grace_period_secs=120,
    log_step_count_steps=100,
    max_wait_secs=7200,
    save_checkpoint_steps=NOT_GIVEN,
    summary_dir=None,
    save_graph_def=True,
    *,
    safety=None,
    watch=None,
    before_session=None,
):
    """Creates a session that trains the default graph, saves it and resumes it.

    It takes the place of `tf.compat.v1.train.MonitoredTrainingSession`, whose arguments and
    defaults it has. What is different: the global step is made if the graph has none;
    checkpoints are verified, and a damaged one is passed over; they hold where the declared
    iterators are, so that a resumed run equals an unbroken one; a run's directory can be moved or
    copied; it logs where it starts; only the input's end counts as the end of the data.

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
      safety: `SafetyConfig`, what is saved and what is put up with.
      watch: `graphtrain.stopwatch.Stopwatch` that counts the time of saves and summaries.
      before_session: function without arguments, called before each session is made, one that
        takes the place of a lost one included; what it raises ends the training.

    Returns:
      A `MonitoredSession`.

    Raises:
      UsageError: steps and seconds are given for one interval, or the graph's global step is
        not one integer scalar.
      DataError: the directory has checkpoints, but none can be read.

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
    save_summaries = interval(
        "save_summaries", save_summaries_steps, save_summaries_secs, default={"save_steps": 100}
    )
    save_checkpoint = interval(
        "save_checkpoint", save_checkpoint_steps, save_checkpoint_secs, default={"save_secs": 600}
    )
    scaffold = scaffold or tf1.train.Scaffold()
    if scaffold.init_op is None or checkpoint_dir or summary_dir:
        # An init_op of the user's own could not initialize a step that is made now.
        global_step.get_or_create()
        global_step.let_hooks_read_before_increments()
    checkpoints.use_own_saver(scaffold)
    safety = safety or SafetyConfig()
    agreed = agreement.of_default_graph()
    if agreed is not None:
        is_chief = agreed.group.is_chief
    where = {"master": master, "config": config}
    common = {
        "stop_grace_period_secs": stop_grace_period_secs,
        "ends_on_signals": True,
        "agreement": agreed,
    }
    if not is_chief and agreed is None:
        creator = waiting_session.WaitingSessionCreator(
            scaffold,
            max_wait_secs=max_wait_secs,
            max_recoveries=safety.max_recoveries,
            **where,
        )
        first = waiting_session.preceded_by(before_session, creator)
        return MonitoredSession(first, hooks, recoveries=creator.recoveries, **common)

    _check_roll_back(safety)
    common["rolls_back"] = safety.on_not_finite == "roll_back"
    if not is_chief:
        creator = restore.RestoringSessionCreator(scaffold, safety=safety, **where)
        place_input, position_hooks = _own_input(
            checkpoint_dir, agreed, safety, _interval_of(chief_only_hooks) or save_checkpoint
        )
        first = synchronized.SynchronizedSessionCreator(creator, agreed, place_input=place_input)
        first = waiting_session.preceded_by(before_session, first)
        all_hooks = [*(hooks or ()), *position_hooks]
        return MonitoredSession(first, all_hooks, recoveries=creator.recoveries, **common)

    if checkpoint_dir:
        # If it cannot be read, nothing is written to it either.
        checkpoints.newest(checkpoint_dir)
    positions = input_position.of_default_graph() if checkpoint_dir else None
    creator = restore.RestoringSessionCreator(
        scaffold, checkpoint_dir=checkpoint_dir, positions=positions, safety=safety, **where
    )
    all_hooks = _default_hooks(
        checkpoint_dir,
        summary_dir or checkpoint_dir,
        chief_only_hooks,
        log_step_count_steps=none_unless_positive(log_step_count_steps),
        save_summaries=save_summaries,
        save_checkpoint=save_checkpoint,
        scaffold=scaffold,
        save_graph_def=save_graph_def,
        watch=watch,
    )
    all_hooks.extend(hooks or ())
    lock = _prepare_savers(all_hooks, creator, safety, positions)
    all_hooks.append(restore.RestoredStepGuard(creator))
    first = creator
    if agreed is not None:
        first = synchronized.SynchronizedSessionCreator(creator, agreed)
    return MonitoredSession(
        waiting_session.preceded_by(before_session, first),
        all_hooks,
        scaffold=scaffold,
        checkpoint_dir=checkpoint_dir or None,
        lock=lock,
        recoveries=creator.recoveries,
        **common,
    )


def _check_roll_back(safety):
    if safety.on_not_finite == "roll_back" and not rate_scale.SCALE.is_used(
        tf1.get_default_graph()
    ):
        raise UsageError(
            "on_not_finite='roll_back' makes the learning rate smaller, but the graph's has no "
            "factor for it: multiply it by graphtrain.learning_rate_scale()."
        )


def _own_input(checkpoint_dir, agreed, safety, interval_of_saves):
    """Returns what places the input of a worker in step, or None, and the hooks that save it."""
    if not checkpoint_dir:
        return None, []
    own_input = WorkerInput(checkpoint_dir, agreed, safety)
    return own_input.place, own_input.hooks(interval_of_saves)


def _prepare_savers(hooks, creator, safety, positions):
    """Gives our saver hooks what they need; returns the lock of their directory, or None."""
    lock = None
    for hook in hooks:
        if isinstance(hook, SaverHook):
            hook.use(safety, positions)
            creator.ask_for_last_step(lambda hook=hook: hook.step)
            lock = WriterLock(hook.directory) if safety.single_writer else None
    return lock


def _interval_of(hooks):
    """Returns the interval of the saver hook among hooks, a dict, or None."""
    return next((hook.interval for hook in hooks or () if isinstance(hook, SaverHook)), None)


def _default_hooks(
    checkpoint_dir,
    summary_dir,
    chief_only_hooks,
    *,
    log_step_count_steps,
    save_summaries,
    save_checkpoint,
    scaffold,
    save_graph_def,
    watch,
):
    """Lists the hooks of a chief, those of its owner for chiefs among them."""
    found = [EventMarks(summary_dir)] if summary_dir else []
    found.extend(chief_only_hooks or ())
    if summary_dir and log_step_count_steps:
        found.append(StepRateHook(every_steps=log_step_count_steps, output_dir=summary_dir))
    if summary_dir and save_summaries:
        found.append(
            SummaryHook(
                summary_dir,
                scaffold=scaffold,
                every_steps=save_summaries.get("save_steps"),
                every_secs=save_summaries.get("save_secs"),
                watch=watch,
            )
        )
    if checkpoint_dir and save_checkpoint:
        found.append(
            SaverHook(
                checkpoint_dir,
                **save_checkpoint,
                scaffold=scaffold,
                save_graph_def=save_graph_def,
                watch=watch,
            )
        )
    return found
