"""The training loop: runs the train op until something says stop, and says what it was."""

import dataclasses
import typing

import tensorflow as tf

from graphtrain.distribute import all_reduce
from graphtrain.hooks.quiet import NEVER
from graphtrain.session import global_step, inputs, loss_watch, skip_step
from graphtrain.session.pace import Pace
from graphtrain.session.quiet_steps import QuietSteps
from graphtrain.session.safety import SafetyConfig
from graphtrain.session.several_steps import add_extra_steps
from graphtrain.session.step_rise import StepRise

tf1 = tf.compat.v1

MAX_STEPS = "max_steps"
END_OF_DATA = "end_of_data"
STOP_REQUESTED = "stop_requested"


@dataclasses.dataclass(frozen=True)
class TrainResult:
    """How a training run ended.

    Attributes:
      global_step: int, the global step at the end.
      loss: float, the loss of the last step; None if no step was made.
      reason: "max_steps", "end_of_data" or "stop_requested".
      stop_reason: str, what `request_stop` of the session was told; None if it was not called.
      secs: dict from "start", "steps", "saves" and so on to the seconds spent on them, where an
        Estimator trained.
    """

    global_step: int
    loss: float | None
    reason: str
    stop_reason: str | None = None
    secs: dict = dataclasses.field(default_factory=dict, compare=False, repr=False)


@dataclasses.dataclass(frozen=True)
class TrainStep:
    """What one run of the loop fetches; `prepare` makes it, before the graph is finalized."""

    train_op: typing.Any
    last_loss: tf.Tensor
    step_before: tf.Tensor
    step_after: tf.Tensor
    extra_steps: tf.Tensor | None


def prepare(train_op, loss, *, several_steps=False, safety=None):
    """Returns what `run` fetches in each step.

    Args:
      train_op: op or tensor of the default graph that makes a step.
      loss: scalar tensor; a step at which it is nan ends the run.
      several_steps: whether runs of several steps are wanted.
      safety: `SafetyConfig`, whether steps that are not finite are skipped.

    Returns:
      A `TrainStep`.

    Raises:
      UsageError: several steps cannot be had with this graph.
    """
    safety = safety or SafetyConfig()
    skips = safety.on_not_finite == "skip_step"
    # A sum over the workers that is under way when an op fails would end all sums for good.
    after = [train_op] if all_reduce.of_default_graph() else []
    watch = loss_watch.LossWatch(loss, fails=not skips, after=after)
    if skips:
        train_op = skip_step.skip_if_not_finite(
            tf.group(train_op),
            loss,
            global_step.get_or_create(),
            most_in_a_row=safety.max_bad_steps,
        )
    train_op = tf.group(train_op, watch.op)
    step_before = tf.identity(global_step.get_or_create())
    step_after = global_step.value_after(train_op)
    extra_steps = add_extra_steps(train_op) if several_steps else None
    return TrainStep(train_op, watch.last, step_before, step_after, extra_steps)


def run(session, train_step, *, steps=None, max_steps=None, steps_per_run=1, others_step=False):
    """Trains until the step limit, the end of the input, or a hook's request to stop.

    Steps at which no hook wants to be called are made without the hooks, if all of them are of
    the kind that says so (`graphtrain.hooks.quiet.QuietHook`; ours are).

    Args:
      session: an open `graphtrain.MonitoredTrainingSession`.
      train_step: what `prepare` returned.
      steps: int >= 1, how many steps to make, or None.
      max_steps: int >= 1, the global step to stop at, or None.
      steps_per_run: int >= 1, the most steps of one `session.run`, or "auto"; the run before a
        limit, or before a step that a hook wants to see, makes fewer.
      others_step: whether other processes raise the global step too, so that it jumps.

    Returns:
      A `TrainResult`.

    Raises:
      UsageError: the first run did not raise the global step, or not by exactly 1 though nobody
        else raises it.
      RuntimeError: a hook raised StopIteration.
      tf.compat.v1.train.NanLossDuringTrainingError: the loss is nan.
      tf.errors.OutOfRangeError: raised by an op that is not part of the input.

    Example:
      >>> train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
      >>> train_step = prepare(train_op, tf.constant(0.5))
      >>> with graphtrain.MonitoredTrainingSession() as session:
      ...     run(session, train_step, steps=3)
      TrainResult(global_step=3, loss=0.5, reason='max_steps', stop_reason=None)
    """

    def read_step():
        return int(session.run_without_hooks(train_step.step_before))

    fetches = [train_step.train_op, train_step.step_after]
    pace = Pace(steps_per_run)
    quiet = QuietSteps(session, train_step, pace)
    rise = StepRise(session.graph, others_step=others_step)
    step = read_step()
    made_none, began_anew = True, False
    last_step = max_steps if steps is None else step + steps
    limit = NEVER if last_step is None else last_step
    reason = _reason_to_stop(session, step, limit)
    while reason is None:
        try:
            count = 1
            if not made_none:
                if not (others_step or session.is_synchronized):
                    step = quiet.make(step, limit)
                count = quiet.steps_of_next_run(step, limit)
            feed = None if count == 1 else {train_step.extra_steps: count - 1}
            _, step_after = pace.timed(count, session.run, fetches, feed)
        except tf.errors.OutOfRangeError as error:
            is_over = others_step and _is_closed_queue(error)
            if not (is_over or inputs.is_end_of_input(error, session.graph)):
                raise
            step = read_step()
            if is_over:
                session.request_stop("the chief has closed a queue that the train_op waits for")
            if session.stop_reason is not None:
                reason = MAX_STEPS if step >= limit else STOP_REQUESTED
            elif made_none and not began_anew:
                # A run before this one has used the input up: its checkpoint says so.
                began_anew = True
                inputs.begin_anew(session)
            else:
                reason = END_OF_DATA
        except tf.errors.InvalidArgumentError as error:
            if not loss_watch.is_of_nan(error):
                raise
            nan_loss = tf1.train.NanLossDuringTrainingError()
            tf1.logging.error("the loss is nan")
            if not session.roll_back(nan_loss):
                raise nan_loss from error
            step = read_step()
        except StopIteration as error:
            raise RuntimeError(
                "A hook raised StopIteration, which does not count as the end of the data: a hook "
                "stops the training by run_context.request_stop()."
            ) from error
        else:
            rise.check(step, int(step_after))
            made_none = False
            if others_step:
                quiet.pass_over(int(step_after) - step - count)
            step = int(step_after)
            reason = _reason_to_stop(session, step, limit)
    loss = session.run_without_hooks(train_step.last_loss)
    return TrainResult(step, float(loss[0]) if len(loss) else None, reason, session.stop_reason)


def _reason_to_stop(session, step, last_step):
    if step >= last_step:
        return MAX_STEPS
    return STOP_REQUESTED if session.should_stop() else None


def _is_closed_queue(error):
    """Whether an error says that a queue, from which workers take turns, has been closed."""
    return error.op is not None and error.op.type in ("QueueDequeue", "QueueDequeueV2")
