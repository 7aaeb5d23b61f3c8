"""Trains a model. The same command again continues where it stopped."""

import contextlib
import os
import sys

import _quiet  # noqa: F401
import _saved_run
import tensorflow as tf
from absl import flags as absl_flags

import graphtrain
from graphtrain import app, datasets, flags, hooks, models
from graphtrain.distribute import choose, parameter_servers
from graphtrain.distribute.cluster_settings import EVALUATOR, PS
from graphtrain.distribute.modes import ALL_REDUCE
from graphtrain.errors import UsageError
from graphtrain.estimator import time_report
from graphtrain.session import checkpoints, rate_on_resume, skip_step
from graphtrain.session.finite import NotFiniteError
from graphtrain.session.safety import KEEP, RESTART
from graphtrain.session.signals import Interrupted

tf1 = tf.compat.v1

DEFAULT_EPOCHS = 10
# The first article saves every second epoch, the second one evaluates after each.
SAVE_EVERY_EPOCHS = {"mlp": 2, "cnn": 1}


def define_flags(flag_values=absl_flags.FLAGS):
    flags.define_model_flags(flag_values)
    flags.define_data_flags(flag_values)
    flags.define_train_step_flags(flag_values)
    flags.define_run_flags(flag_values)
    flags.define_session_flags(flag_values)
    flags.define_safety_flags(flag_values)
    flags.define_cluster_flags(flag_values)


def main(values):
    if values.model_dir is None:
        values.model_dir = f"runs/{values.model}_{values.data}_{values.train_step}"
    cluster = flags.cluster_from_flags(values)
    if cluster.task_type == PS:
        return _hold_variables(values)
    _saved_run.check(values)
    data = datasets.load(values.data, values.data_dir)
    steps_per_epoch = _steps_per_epoch(values, cluster, data)
    max_steps = values.max_steps or (values.epochs or DEFAULT_EPOCHS) * steps_per_epoch
    step = _step_reached(values.model_dir)
    if step >= max_steps and not _is_one_of_several(cluster):
        print(f"{values.model_dir} is at step {step} of {max_steps}: there is nothing left to do.")
        return 0
    if cluster.is_chief:
        print(_plan(values, data, steps_per_epoch, step, max_steps), flush=True)
    with _ended_by_signals() as signals, _not_finite_in_one_line(values):
        metrics = _train(values, data, steps_per_epoch, max_steps)
    step = _step_reached(values.model_dir)
    if signals.received is not None:
        print(f"stopped by {signals.received} at step {step}: the same command goes on there")
        return signals.exit_code
    if metrics is None:
        print(f"{cluster.task_type} {cluster.task_id} is done; the newest checkpoint: step {step}")
        return 0
    print(f"test accuracy: {metrics['accuracy']:.4f} at step {metrics['global_step']}")
    print(f"checkpoints:   {os.path.abspath(values.model_dir)}")
    print(f"to see more:   tensorboard --logdir={os.path.abspath(values.model_dir)}")
    return 0


def _is_one_of_several(cluster):
    return cluster.task_type == EVALUATOR or bool(cluster.cluster_spec.jobs)


def _steps_per_epoch(values, cluster, data):
    in_step = choose.distribution_of(values.distribution, cluster) == ALL_REDUCE
    at_once = values.batch_size * (cluster.num_worker_replicas if in_step else 1)
    return datasets.steps_per_epoch(len(data.train_images), at_once)


def _hold_variables(values):
    """Does what a parameter server does, which needs neither the data nor the model."""
    with _ended_by_signals() as signals:
        parameter_servers.serve(flags.run_config_from_flags(values, steps_per_epoch=1))
    return signals.exit_code


@contextlib.contextmanager
def _ended_by_signals():
    with graphtrain.saving_on_signals() as signals:
        try:
            yield signals
        except Interrupted as interruption:
            print(interruption)


@contextlib.contextmanager
def _not_finite_in_one_line(values):
    try:
        yield
    except (tf1.train.NanLossDuringTrainingError, tf.errors.InvalidArgumentError) as error:
        if isinstance(error, NotFiniteError):
            what = str(error)
        elif isinstance(error, tf1.train.NanLossDuringTrainingError):
            what = "The loss became nan. A smaller --learning_rate may help."
        elif skip_step.gave_up(error):
            what = f"{values.max_bad_steps} steps in a row were not finite."
        else:
            raise
        step = _step_reached(values.model_dir)
        raise UsageError(f"{what} The newest checkpoint, of step {step}, is finite.") from error


def _train(values, data, steps_per_epoch, max_steps):
    """Trains and evaluates; returns the metrics of the last evaluation."""
    progress = hooks.ProgressHook(
        "loss",
        "learning_rate",
        batch_size=values.batch_size,
        total_steps=max_steps,
        every_steps=values.log_steps,
        stream=sys.stdout,
    )
    epochs = hooks.EpochReportHook(
        "loss",
        steps_per_epoch=steps_per_epoch,
        epochs=-(-max_steps // steps_per_epoch),
        write=progress.write,
    )
    train_input_fn = datasets.image_input_fn(
        data.train_images,
        data.train_labels,
        batch_size=values.batch_size,
        shuffle=values.shuffle,
        seed=values.seed,
    )
    eval_input_fn = datasets.image_input_fn(
        data.test_images, data.test_labels, batch_size=values.eval_batch_size, epochs=1
    )
    classifier = graphtrain.Estimator(
        getattr(models, f"{values.model}_model_fn"),
        config=flags.run_config_from_flags(
            values,
            steps_per_epoch=steps_per_epoch,
            save_every_epochs=SAVE_EVERY_EPOCHS[values.model],
        ),
        params=flags.params_from_flags(values),
    )
    run_hooks = [progress]
    if classifier.config.is_chief:
        run_hooks += [_SavesSettings(values), epochs]
    if values.profile_steps is not None:
        first, last = values.profile_steps
        run_hooks.append(hooks.ProfileHook(values.model_dir, first_step=first, last_step=last))
    metrics, _ = graphtrain.train_and_evaluate(
        classifier,
        graphtrain.TrainSpec(train_input_fn, max_steps, hooks=run_hooks),
        graphtrain.EvalSpec(
            eval_input_fn, steps=None, exporters=[_EvaluationReport(progress.write)]
        ),
    )
    if values.report_time and classifier.last_train_result is not None:
        print(*time_report.lines(classifier.last_train_result.secs), sep="\n")
    return metrics


class _SavesSettings(tf1.train.SessionRunHook):
    """Writes what other scripts must know, once no other process can be training in the folder."""

    def __init__(self, values):
        self._values = values

    def after_create_session(self, session, coord):
        del session, coord
        _saved_run.save(self._values)


class _EvaluationReport:
    """Writes what each evaluation found: an exporter is told of every one."""

    name = "evaluation_report"

    def __init__(self, write):
        self._write = write

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        del estimator, export_path, checkpoint_path, is_the_final_export
        step, accuracy, loss = (eval_result[key] for key in ("global_step", "accuracy", "loss"))
        self._write(f"evaluation at step {step}: accuracy {accuracy:.4f}, loss {loss:.4g}")


def _step_reached(model_dir):
    newest = checkpoints.newest(model_dir)
    return 0 if newest is None else checkpoints.global_step_of(newest)


def _plan(values, data, steps_per_epoch, step, max_steps):
    """What is about to be done, in a line or two."""
    start = f"continuing at step {step}" if step else "starting"
    schedule = flags.learning_rate_from_flags(values)
    begun_at, how = _begin_of_schedule(values, step)
    at_steps = sorted({begun_at, begun_at + (values.decay_steps or 0), max_steps})
    with tf.Graph().as_default(), tf1.Session() as session:
        rates = session.run(
            [schedule(tf.constant(at_step - begun_at, tf.int64)) for at_step in at_steps]
        )
    pairs = [f"{rate:.4g} at step {at}" for rate, at in zip(rates, at_steps, strict=True)]
    return (
        f"{values.model} on {data.name}: {len(data.train_images)} images, {steps_per_epoch} steps "
        f"an epoch; {start}, to step {max_steps}\n"
        f"learning rate {how}{', '.join(pairs)}"
    )


def _begin_of_schedule(values, step):
    """The global step that the learning rate's schedule counts from, and how that came about."""
    on_resume = values.learning_rate_on_resume
    if not step:
        return 0, ""
    if on_resume == RESTART:
        return step, "(begun anew) "
    begun_at = rate_on_resume.origin_of(checkpoints.newest(values.model_dir))
    return begun_at, "" if on_resume == KEEP else "(in place of the run's) "


if __name__ == "__main__":
    define_flags()
    app.run(main)
