"""One step of an optimizer with the line search along it."""

import dataclasses
import typing

import numpy as np
import tensorflow as tf

from graphtrain import checks
from graphtrain.distribute import all_reduce
from graphtrain.errors import UsageError
from graphtrain.optimize import first_scale, frequency, graph_walk
from graphtrain.optimize.backtracking import backtrack
from graphtrain.optimize.conditions import CONDITIONS, Armijo, Decrease
from graphtrain.optimize.control_flow import control_flow_v2
from graphtrain.optimize.next_scale import NextScale
from graphtrain.optimize.over_workers import loss_over_workers, value_over_workers
from graphtrain.optimize.search_state import SearchState
from graphtrain.optimize.self_test import self_test
from graphtrain.optimize.taken_step import TakenStep

tf1 = tf.compat.v1

ON_FAILURE = ("restore", "keep_last")
ON_ASCENT = ("search", "accept", "restore")
ON_NONFINITE_LOSS = ("error", "skip")


@dataclasses.dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How a step is searched; `LineSearchOptimizer` says what each setting means.

    Raises:
      UsageError: a setting cannot be used.
    """

    condition: object
    first_scale: object
    shrink: float
    interpolation: str | None
    min_scale: object
    on_failure: str
    on_ascent: str
    on_nonfinite_loss: str
    search_every: object
    relative_tolerance: float | None
    self_test: bool

    def __post_init__(self):
        self._set("condition", _condition(self.condition))
        NextScale(self.shrink, self.interpolation)
        self._set("first_scale", first_scale.with_shrink(self.first_scale, self.shrink))
        if not tf.is_tensor(self.min_scale):
            checks.real("min_scale", self.min_scale, above=0, at_most=1)
        checks.one_of("on_failure", self.on_failure, ON_FAILURE)
        checks.one_of("on_ascent", self.on_ascent, ON_ASCENT)
        checks.one_of("on_nonfinite_loss", self.on_nonfinite_loss, ON_NONFINITE_LOSS)
        self._set("search_every", frequency.from_argument(self.search_every))
        if self.relative_tolerance is not None:
            checks.real("relative_tolerance", self.relative_tolerance, at_least=0, below=1)
        if not isinstance(self.self_test, bool):
            raise UsageError(f"self_test={self.self_test!r} cannot be used: give True or False")

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    @property
    def next_scale(self):
        """The rule for the scale after a rejected one."""
        return NextScale(self.shrink, self.interpolation)

    @property
    def leaves_steps_out(self):
        """Whether a step may be taken without a search."""
        every_step = isinstance(self.search_every, frequency.EveryStep)
        return not every_step or self.on_ascent == "accept"

    def initial_state(self):
        """Returns the first values of what the search remembers."""
        initial = {"scale": 1.0} if self.leaves_steps_out else {}
        for policy in (self.condition, self.first_scale, self.search_every):
            initial |= policy.initial_state()
        return initial


def check_policies(condition, first, search_every):
    """Refuses policies that `LineSearchOptimizer` would not take.

    Args:
      condition: its argument of this name.
      first: its argument `first_scale`.
      search_every: its argument of this name.

    Raises:
      UsageError: one of them cannot be used.

    Example:
      >>> check_policies("armijo", "grow", 10)
    """
    _condition(condition)
    first_scale.with_shrink(first, first_scale.Polyak.shrink)
    frequency.from_argument(search_every)


def _condition(condition):
    if isinstance(condition, Decrease | Armijo):
        return condition
    return CONDITIONS[checks.one_of("condition", condition, tuple(CONDITIONS))]


class SearchedStep(typing.NamedTuple):
    """What a searched step did, and the ops that do it.

    Attributes:
      done: the op that takes the step, searches, and remembers.
      whole_step: the op of the wrapped optimizer's own step.
      loss_before: float scalar tensor, the loss before the step.
      loss_after: float scalar tensor, the loss at the weights after it; nan if not searched.
      scale: float scalar tensor, the part of the step that was taken; 0 if none.
      trials: int32 scalar tensor, how many parts were tried.
      accepted: bool scalar tensor, false if the search failed or the loss was not finite.
      searched: bool scalar tensor, whether there was a search.
      ascent: bool scalar tensor, whether the wrapped optimizer's step led uphill.
      search_secs: float64 scalar tensor, the seconds that the trials took.
    """

    done: tf.Operation
    whole_step: tf.Operation
    loss_before: tf.Tensor
    loss_after: tf.Tensor
    scale: tf.Tensor
    trials: tf.Tensor
    accepted: tf.Tensor
    searched: tf.Tensor
    ascent: tf.Tensor
    search_secs: tf.Tensor


def searched_step(settings, optimizer, grads_and_vars, differentiated, *, name=None):
    """Builds a step of `optimizer` with the search along it.

    Args:
      settings: `SearchSettings`.
      optimizer: the wrapped `tf.compat.v1.train.Optimizer`.
      grads_and_vars: (gradient, variable) pairs to apply.
      differentiated: the `Differentiated` loss.
      name: passed on to the optimizer.

    Returns:
      A `SearchedStep`.
    """
    own_objective, replay = differentiated.objective, differentiated.replay
    dtype = tf.float64 if own_objective.dtype == tf.float64 else tf.float32
    objective = loss_over_workers(own_objective)
    gradients = [gradient for gradient, _ in grads_and_vars if gradient is not None]
    gradients = tf.nest.flatten(gradients, expand_composites=True)
    if settings.on_nonfinite_loss == "error":
        # A sum over the workers that is under way when an op fails would end all sums for good.
        after = gradients if all_reduce.of_default_graph() else []
        objective = _checked_finite(objective, after)
    first = [objective, *gradients]
    if settings.self_test:
        refs = any(
            graph_walk.is_ref(graph_walk.handle_of(variable)) for variable in replay.variables
        )
        first.append(self_test(replay, own_objective, has_ref_variables=refs))
    loss_gradients = differentiated.grads_and_vars or grads_and_vars
    loss_before = tf.cast(objective, dtype)
    state = SearchState(settings.initial_state(), dtype=dtype, scope="line_search")
    remembered = state.read()
    needed = _step_may_change(settings, loss_before, remembered)
    step = TakenStep(
        optimizer, grads_and_vars, loss_gradients, after=first, needed=needed, name=name
    )
    # Every worker decides by the same numbers, to the bit: what it sums up itself may differ.
    slope = value_over_workers(step.slope(dtype))
    return _Search(settings, step, replay, loss_before, slope, state, remembered).build()


def _step_may_change(settings, loss_before, remembered):
    """Whether the whole step may have to be scaled or undone; None if that is not known before."""
    if not settings.leaves_steps_out or settings.on_ascent != "search":
        return None
    is_due = settings.search_every.is_due(remembered)
    return is_due | ~tf.math.is_finite(loss_before) | tf.not_equal(remembered["scale"], 1)


class _Search:
    """The tensors of one search, on the way from the step to what is kept of it."""

    def __init__(self, settings, step, replay, loss_before, slope, state, remembered):
        self.settings, self.step, self.replay = settings, step, replay
        self.loss_before, self.slope = loss_before, slope
        self.state, self.remembered = state, remembered
        self.finite = tf.math.is_finite(loss_before)
        # Without copies of what was before there is no slope either: it is not known.
        self.ascent = (slope >= 0) & step.is_measured
        self.wanted = self.finite & settings.search_every.is_due(self.remembered)
        if settings.on_ascent != "search":
            self.wanted &= ~self.ascent

    def build(self):
        settings = self.settings
        bound, learnt = self._bound()
        with tf.control_dependencies(self.step.whole):
            began = tf.timestamp()
        outcome = self._backtrack(bound, began)
        with tf.control_dependencies([outcome.accepted]):
            search_secs = tf.timestamp() - began
        unsearched = self.finite & ~self.wanted
        if settings.on_ascent == "restore":
            unsearched &= ~self.ascent
        accepted = outcome.accepted | unsearched
        kept = accepted
        if settings.on_failure == "keep_last":
            kept |= self.wanted
        scale = tf.where(self.wanted, outcome.scale, self._last_scale())
        settled = self._settle(kept, unsearched, outcome)
        scale = tf.where(kept, scale, tf.zeros_like(scale))
        after = tf.where(self.wanted, outcome.loss, tf.constant(np.nan, scale.dtype))
        with tf.control_dependencies([settled]):
            done = tf.group(settled, self.state.write(self._to_remember(outcome, scale, learnt)))
        return SearchedStep(
            done=done,
            whole_step=self.step.op,
            loss_before=self.loss_before,
            loss_after=tf.where(kept, after, self.loss_before),
            scale=scale,
            trials=outcome.trials,
            accepted=accepted,
            searched=self.wanted,
            ascent=self.ascent,
            search_secs=search_secs,
        )

    def _bound(self):
        """The loss that a trial at a scale is held against, and what the condition learnt."""
        condition = self.settings.condition
        reference, learnt = condition.reference(self.loss_before, self.remembered)
        tolerance = self.settings.relative_tolerance
        if tolerance is None:
            rounding = float(np.finfo(self.loss_before.dtype.as_numpy_dtype).eps)
            tolerance = condition.rounding_errors_allowed * rounding
        reference += tolerance * tf.abs(self.loss_before)
        if not condition.c:
            return lambda scale: reference, learnt
        # A step that leads uphill promises no fall; it is not given leave to rise.
        slope = tf.minimum(self.slope, 0)
        return lambda scale: reference + condition.c * scale * slope, learnt

    def _backtrack(self, bound, began):
        settings = self.settings
        first = settings.first_scale.scale(self.loss_before, self.slope, self.remembered)
        return backtrack(
            self.step,
            lambda: value_over_workers(self.replay()),
            wanted=self.wanted,
            first=first,
            accepts=lambda loss, scale: settings.condition.accepts(loss, bound(scale)),
            next_scale=lambda rejected, earlier: settings.next_scale.after(
                rejected, earlier, self.loss_before, self.slope
            ),
            min_scale=tf.cast(settings.min_scale, self.loss_before.dtype),
            after=[*self.step.whole, began],
        )

    def _last_scale(self):
        return self.remembered.get("scale", tf.ones_like(self.loss_before))

    def _settle(self, kept, unsearched, outcome):
        """The op that leaves the weights where they are to stay."""
        last = self._last_scale()

        def keep():
            if not self.settings.leaves_steps_out:
                return tf.no_op()
            to_move = unsearched & tf.not_equal(last, 1)
            return tf1.cond(to_move, lambda: self.step.scale_to(last), tf.no_op)

        with control_flow_v2(not self.step.has_ref_variables):
            with tf.control_dependencies([outcome.accepted, *self.step.whole]):
                return tf1.cond(tf.identity(kept), keep, self.step.undo)

    def _to_remember(self, outcome, scale, learnt):
        settings, old = self.settings, self.remembered
        searched = settings.first_scale.after_search(outcome, old)
        always = settings.search_every.after_step(self.wanted, scale, old)
        if "scale" in old:
            searched["scale"] = tf.where(outcome.accepted, outcome.scale, old["scale"])
        new = {}
        for when, values in ((self.wanted, searched), (self.finite, always), (self.finite, learnt)):
            new |= {key: tf.where(when, value, old[key]) for key, value in values.items()}
        return new


def _checked_finite(loss, after):
    with tf.control_dependencies(after):
        check = tf.debugging.Assert(
            tf.math.is_finite(loss),
            ["LineSearchOptimizer: the loss before the step is not finite, so no step from here "
             "can be judged. Look at the batch, lower the learning rate, or pass "
             "on_nonfinite_loss='skip' to leave such steps out. The loss is", loss],
        )  # fmt: skip
    with tf.control_dependencies([check]):
        return tf.identity(loss)
