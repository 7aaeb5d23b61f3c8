"""Estimator.train: the graph, the default hooks, and the session of a training run."""

import dataclasses

import tensorflow as tf

from graphtrain import checks
from graphtrain.distribute import choose, parameter_servers
from graphtrain.distribute.cluster_settings import PS
from graphtrain.errors import UsageError
from graphtrain.estimator import end_of_training, time_report, update_ops
from graphtrain.estimator import spec as specs
from graphtrain.hooks.log_values import LogValuesHook
from graphtrain.optimize import over_workers
from graphtrain.session import checkpoints, graph_times, loop, monitored, signals
from graphtrain.session.saver_hook import SaverHook

tf1 = tf.compat.v1


def train(
    model,
    input_fn,
    *,
    hooks=None,
    steps=None,
    max_steps=None,
    saving_listeners=None,
    on_session=lambda session: None,
):
    """Trains a model; see `Estimator.train`.

    A run that has reached `max_steps` already leaves every file as it is.

    Args:
      on_session: function that is given the session once it is open.

    Returns:
      A `graphtrain.session.loop.TrainResult`; None in the process of a parameter server, which
      trains nothing but holds variables for those who do.
    """
    specs.checked_input_fn(input_fn)
    hooks = specs.checked_hooks("hooks", hooks)
    listeners = specs.checked_saving_listeners(saving_listeners)
    steps, max_steps = _checked_limits(steps, max_steps)
    if model.config.task_type == PS:
        parameter_servers.serve(model.config)
        return None
    mode = choose.mode_of(model.config)
    mode.start()
    finished_step = _finished_step(model.model_dir, max_steps)
    if finished_step is not None:
        tf1.logging.info(
            "nothing to train: %s is at step %d, max_steps is %d",
            model.model_dir,
            finished_step,
            max_steps,
        )
        result = loop.TrainResult(finished_step, None, loop.MAX_STEPS)
        _end(model, mode, result)
        return result
    if mode.is_chief:
        end_of_training.retract(model.model_dir)
    watch, before = model.watch, dict(model.watch.secs)
    with tf.Graph().as_default(), mode.building():
        with watch.timing("start"):
            spec, loss, train_step, times = _build(model, mode, input_fn)
            session = _session(model, mode, spec, loss, hooks, listeners)
        with session:
            with watch.timing("steps"):
                on_session(session)
                result = loop.run(
                    session,
                    train_step,
                    steps=steps,
                    max_steps=max_steps,
                    steps_per_run=model.config.steps_per_run,
                    others_step=mode.others_step,
                )
            in_graph = {} if times is None else session.run_without_hooks(times.secs)
            mode.after_loop(session)
        whose_input = mode.why_empty()
    _end(model, mode, result)
    result = dataclasses.replace(result, secs=time_report.spent(watch, before, in_graph))
    _report(result, whose_input)
    return result


def _build(model, mode, input_fn):
    """Builds the graph of the training; returns its spec, loss, step and times (or None)."""
    model.start_graph()
    features, labels = model.call_input_fn(
        input_fn, specs.ModeKeys.TRAIN, input_context=mode.input_context()
    )
    spec = model.call_model_fn(features, labels, specs.ModeKeys.TRAIN)
    mode.check()
    model.warm_start.apply(model.model_dir)
    train_op = update_ops.with_update_ops(mode.train_op(spec.train_op))
    update_ops.warn_of_averages_that_stand_still(train_op)
    train_op = update_ops.with_averages_over_workers(train_op)
    loss = over_workers.loss_over_workers(spec.loss)
    _summarize_loss(loss)
    times = None
    if model.config.report_time:
        times = graph_times.GraphTimes(tf1.get_default_graph())
        train_op = tf.group(train_op, times.op)
    several_steps = model.config.steps_per_run != 1
    with mode.on_this_process():
        train_step = loop.prepare(
            train_op, loss, several_steps=several_steps, safety=model.config.safety
        )
    return spec, loss, train_step, times


def _checked_limits(steps, max_steps):
    if steps is not None and max_steps is not None:
        raise UsageError(
            f"steps and max_steps cannot both be set, got {steps} and {max_steps}: steps are made "
            "beyond those of earlier runs, max_steps counts all."
        )
    return (
        None if steps is None else checks.whole("steps", steps),
        None if max_steps is None else checks.whole("max_steps", max_steps),
    )


def _end(model, mode, result):
    """Tells the other processes of a cluster, the evaluator too, that the training is over."""
    is_over = signals.requested_stop() is None
    if mode.is_chief and is_over and model.config.cluster_spec.jobs:
        end_of_training.announce(model.model_dir, result.global_step, result.reason)
    mode.end()


def _finished_step(model_dir, max_steps):
    path = checkpoints.newest(model_dir) if max_steps is not None else None
    if path is None:
        return None
    step = checkpoints.global_step_of(path)
    return step if step >= max_steps else None


def _summarize_loss(loss):
    """Adds a summary with the tag `loss`, unless the model_fn has made one.

    `tf.compat.v1.summary.scalar` would call it `loss_1` where the loss itself is named so.
    """
    for summary in tf1.get_collection(tf1.GraphKeys.SUMMARIES):
        if summary.op.type == "ScalarSummary" and _tag(summary) == b"loss":
            return
    summary = tf.raw_ops.ScalarSummary(tags="loss", values=loss, name="loss_summary")
    tf1.add_to_collection(tf1.GraphKeys.SUMMARIES, summary)


def _tag(scalar_summary):
    tag = tf.get_static_value(scalar_summary.op.inputs[0])
    return None if tag is None else tag.item()


def _session(model, mode, spec, loss, hooks, listeners):
    """Opens the session with our default hooks, each only where the user has none like it."""
    config = model.config
    checkpoints.use_own_saver(
        spec.scaffold,
        max_to_keep=config.keep_checkpoint_max,
        keep_every_n_hours=config.keep_checkpoint_every_n_hours,
        sharded=mode.shards_checkpoints,
    )
    users_hooks = (*hooks, *spec.training_hooks, *spec.training_chief_hooks)
    log_steps = config.log_step_count_steps
    default_hooks = []
    if log_steps:
        default_hooks.append(LogValuesHook({"loss": loss}, every_steps=log_steps))
    counts_steps = any(isinstance(hook, tf1.train.StepCounterHook) for hook in users_hooks)
    chief_hooks = []
    if mode.initializes:
        chief_hooks += _saver_hooks(model, spec.scaffold, users_hooks, listeners)
        chief_hooks += spec.training_chief_hooks
    return monitored.MonitoredTrainingSession(
        master=mode.master,
        is_chief=mode.is_chief,
        checkpoint_dir=model.model_dir,
        scaffold=spec.scaffold,
        hooks=[*hooks, *default_hooks, *spec.training_hooks, *mode.hooks()],
        chief_only_hooks=chief_hooks,
        save_checkpoint_secs=0,
        save_summaries_steps=config.save_summary_steps,
        config=mode.session_config(model.session_config),
        stop_grace_period_secs=mode.stop_grace_secs,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=None if counts_steps else log_steps,
        save_graph_def=config.checkpoint_save_graph_def,
        safety=config.safety,
        watch=model.watch,
        before_session=mode.before_session,
    )


def _saver_hooks(model, scaffold, users_hooks, listeners):
    """Returns our saver hook, or none if the user brought one, with the listeners joined."""
    config = model.config
    users = [hook for hook in users_hooks if isinstance(hook, tf1.train.CheckpointSaverHook)]
    if users:
        checkpoints.add_listeners(users[0], listeners)
        return []
    if config.save_checkpoints_steps or config.save_checkpoints_secs:
        return [
            SaverHook(
                model.model_dir,
                save_steps=config.save_checkpoints_steps,
                save_secs=config.save_checkpoints_secs,
                scaffold=scaffold,
                listeners=list(listeners),
                save_graph_def=config.checkpoint_save_graph_def,
                watch=model.watch,
            )
        ]
    if listeners:
        raise UsageError(
            "saving_listeners are called when a checkpoint is saved, but none will be: set "
            "RunConfig.save_checkpoints_steps or save_checkpoints_secs."
        )
    return []


def _report(result, whose_input):
    if result.loss is None and result.reason == loop.END_OF_DATA:
        raise UsageError(
            f"The input ended before the first training step. The empty input is {whose_input}."
        )
    tf1.logging.info(
        "training ended at step %d (%s), last loss %s",
        result.global_step,
        result.reason,
        result.loss,
    )
