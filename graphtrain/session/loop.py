"""The training loop: runs the train op until something says stop, and says what it was."""

import dataclasses
import typing

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.session import global_step, inputs

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
    """

    global_step: int
    loss: float | None
    reason: str
    stop_reason: str | None = None


@dataclasses.dataclass(frozen=True)
class TrainStep:
    """What one run of the loop fetches; `prepare` makes it, before the graph is finalized."""

    train_op: typing.Any
    loss: tf.Tensor
    step_before: tf.Tensor
    step_after: tf.Tensor


def prepare(train_op, loss):
    """Returns what `run` fetches in each step.

    Args:
      train_op: op or tensor of the default graph that makes a step.
      loss: scalar tensor.

    Returns:
      A `TrainStep`.
    """
    return TrainStep(
        train_op,
        loss,
        step_before=tf.identity(global_step.get_or_create()),
        step_after=global_step.value_after(train_op),
    )


def run(session, train_step, *, steps=None, max_steps=None):
    """Trains until the step limit, the end of the input, or a hook's request to stop.

    Args:
      session: an open `graphtrain.MonitoredTrainingSession`.
      train_step: what `prepare` returned.
      steps: int >= 1, how many steps to make, or None.
      max_steps: int >= 1, the global step to stop at, or None.

    Returns:
      A `TrainResult`.

    Raises:
      UsageError: the first run did not raise the global step by exactly 1.
      RuntimeError: a hook raised StopIteration.
      tf.errors.OutOfRangeError: raised by an op that is not part of the input.

    Example:
      >>> train_op = tf1.assign_add(tf1.train.get_or_create_global_step(), 1)
      >>> train_step = prepare(train_op, tf.constant(0.5))
      >>> with graphtrain.MonitoredTrainingSession() as session:
      ...     run(session, train_step, steps=3)
      TrainResult(global_step=3, loss=0.5, reason='max_steps', stop_reason=None)
    """
    start = session.run_step_fn(
        lambda step_context: int(step_context.session.run(train_step.step_before))
    )
    last_step = max_steps if steps is None else start + steps
    fetches = [train_step.train_op, train_step.loss, train_step.step_after]
    step, loss = start, None
    reason = _reason_to_stop(session, step, last_step)
    while reason is None:
        try:
            _, loss, step_after = session.run(fetches)
        except tf.errors.OutOfRangeError as error:
            if not inputs.is_end_of_input(error, session.graph):
                raise
            reason = END_OF_DATA
        except StopIteration as error:
            raise RuntimeError(
                "A hook raised StopIteration, which does not count as the end of the data: a hook "
                "stops the training by run_context.request_stop()."
            ) from error
        else:
            if step == start:
                _check_rise(start, int(step_after), session.graph)
            step = int(step_after)
            reason = _reason_to_stop(session, step, last_step)
    loss = None if loss is None else float(loss)
    return TrainResult(step, loss, reason, session.stop_reason)


def _reason_to_stop(session, step, last_step):
    if last_step is not None and step >= last_step:
        return MAX_STEPS
    return STOP_REQUESTED if session.should_stop() else None


def _check_rise(before, after, graph):
    rise = after - before
    if rise == 1:
        return
    message = (
        f"One run of the train_op took the global step from {before} to {after}; it must rise by "
        "exactly 1. "
    )
    if rise == 0:
        message += (
            "Give it to the optimizer: minimize(loss, "
            "global_step=tf.compat.v1.train.get_global_step())."
        )
    else:
        message += (
            "Let only one op advance it: of several optimizers only one may be given "
            "global_step, and no assign_add may stand beside it."
        )
    raise UsageError(message + _other_steps(graph))


def _other_steps(graph):
    own = graph.get_collection(tf1.GraphKeys.GLOBAL_STEP)
    own_names = {step.name for step in own}
    others = [
        variable.name
        for variable in graph.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES)
        if "global_step" in variable.name and variable.name not in own_names
    ]
    if not others:
        return ""
    return f" The graph's step is {', '.join(own_names)}, but it also has {', '.join(others)}."
