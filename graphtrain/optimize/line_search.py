"""A line search as an optimizer: any `tf.compat.v1.train` optimizer, with its step scaled to fit.

One step computes the loss and the gradients once, lets the wrapped optimizer take its step once,
and evaluates the loss of the same batch again at the new weights. If it did not fall, the weights
go back part of the way, and again, until it falls or the part is below a floor. All of it is one
train op:

    optimizer = LineSearchOptimizer(
        tf.compat.v1.train.GradientDescentOptimizer(0.1), shrink=0.3, min_scale=1e-5)
    train_op = optimizer.minimize(loss, global_step=global_step)
"""

import typing

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize.learning_rate import learning_rate_of
from graphtrain.optimize.over_workers import gradients_over_workers
from graphtrain.optimize.replay import Replay, check_all_replayed
from graphtrain.optimize.searched_step import SearchSettings, searched_step

tf1 = tf.compat.v1

# The graph collection of the tensors that say how long the searches of a run took.
SEARCH_SECS = "graphtrain_search_secs"


class Differentiated(typing.NamedTuple):
    """A loss that gradients were computed of, and how to evaluate it again."""

    loss: tf.Tensor
    objective: tf.Tensor
    replay: Replay
    grads_and_vars: list


class LineSearchOptimizer(tf1.train.Optimizer):
    """Scales each step of another optimizer until the loss of the same batch falls.

    With weights w, loss f, and the step d that the wrapped optimizer takes, scales s = s_0 > s_1 >
    ... are tried until f(w + s d) meets the condition, or s is below `min_scale`. With the default
    policies they are 1, shrink, shrink^2, ... until f(w + s d) < f(w). For gradient descent
    d = -learning_rate * gradient, so the rates tried are learning_rate * s: the wrapped
    optimizer's learning rate is the first one tried.

    Loss and gradients are computed once, and the wrapped optimizer is applied once; a trial costs
    one forward pass, on the same batch with the same random draws. A trial whose loss is not
    finite is rejected. The global step rises by one, whatever the number of trials.

    After `minimize` or `apply_gradients` these tensors tell what the step of a `session.run` did:
    `loss_before` and `loss_after` (float scalars; after a step without a search the latter is
    nan), `scale` (float scalar, the part of the step that was taken, 0 if none), `learning_rate`
    (float scalar: the scale times the wrapped optimizer's rate, or the scale alone where an
    optimizer of your own keeps its rate under another name), `trials` (int32 scalar),
    `accepted` (bool scalar: false if the step failed), `searched` (bool scalar), `ascent` (bool
    scalar: the wrapped optimizer's step led uphill; of a step without a search it is not known,
    and false, unless `on_ascent` asks for it), `search_secs` (float64 scalar).

    Several such optimizers may step in one `session.run`, each over variables of its own: each
    sees the others' variables as they were before the run. This cannot be had with ref variables
    (not resource variables), nor where only another optimizer's loss reads rows of a table
    (`tf.gather`), or reads a variable inside a function or a loop: run those one after the other.

    Args:
      optimizer: the `tf.compat.v1.train.Optimizer` that takes the step.
      condition: which trial is good enough: "decrease", "armijo", "nonmonotone", or an object of
        `graphtrain.optimize.conditions`.
      first_scale: which scale is tried first: "constant" (1), "grow" (the last one accepted, times
        a factor), "polyak", or an object of `graphtrain.optimize.first_scale`.
      shrink: the factor from one trial to the next, in (0, 1).
      interpolation: None; or "quadratic" or "cubic" to choose the next trial by the losses seen.
      min_scale: the least scale tried, in (0, 1] or a float scalar tensor; the first trial is
        always made. A floor for the learning rate is a floor for the scale divided by the rate.
      on_failure: if no trial is accepted, "restore" puts weights and slots back bit for bit;
        "keep_last" stays at the last trial.
      on_ascent: what to do with a step that leads uphill on its own batch, as momentum's often
        does: "search" all the same, "accept" it unsearched at the scale accepted last, or
        "restore" the weights and slots.
      on_nonfinite_loss: if the loss before the step is not finite, "error" ends the run with the
        weights unchanged, "skip" leaves the step out.
      search_every: 1, or n to search at every n-th step, or "adaptive" to search the less often
        the less the scales change; steps in between take the scale accepted last.
      relative_tolerance: a trial may miss the condition by this part of the loss before the step,
        in [0, 1), so that rounding at a flat spot ends the search; None is 0 for "decrease" and
        twice the rounding error of float32 (float64 for a float64 loss) for the other conditions.
      self_test: whether the first step of a session checks that the loss, evaluated again at the
        same weights, is the same.
      name: a name for the optimizer.

    Raises:
      UsageError: an argument cannot be used.

    Example:
      >>> w = tf1.get_variable("w", initializer=[1.0, 1.0])
      >>> loss = tf.reduce_sum((w - 3.0) ** 2)
      >>> optimizer = LineSearchOptimizer(
      ...     tf1.train.GradientDescentOptimizer(100.0), shrink=0.5, min_scale=1e-3)
      >>> train_op = optimizer.minimize(loss, global_step=tf1.train.get_or_create_global_step())
      >>> with tf1.train.MonitoredTrainingSession() as session:
      ...     step = session.run([train_op, optimizer.trials, optimizer.learning_rate])
      >>> print(*step[1:])
      8 0.78125
    """

    def __init__(
        self,
        optimizer,
        *,
        condition="decrease",
        first_scale="constant",
        shrink=0.3,
        interpolation=None,
        min_scale=1e-5,
        on_failure="restore",
        on_ascent="search",
        on_nonfinite_loss="error",
        search_every=1,
        relative_tolerance=None,
        self_test=True,
        name="LineSearch",
    ):
        super().__init__(use_locking=False, name=name)
        if not isinstance(optimizer, tf1.train.Optimizer):
            raise UsageError(
                f"optimizer={optimizer!r} cannot be searched: give a tf.compat.v1.train.Optimizer, "
                "such as tf.compat.v1.train.GradientDescentOptimizer(0.1)"
            )
        why_not = getattr(optimizer, "why_not_searched", None)
        if why_not is not None:
            raise UsageError(f"optimizer={optimizer!r} cannot be searched: {why_not}")
        self._optimizer = optimizer
        self._settings = SearchSettings(
            condition=condition,
            first_scale=first_scale,
            shrink=shrink,
            interpolation=interpolation,
            min_scale=min_scale,
            on_failure=on_failure,
            on_ascent=on_ascent,
            on_nonfinite_loss=on_nonfinite_loss,
            search_every=search_every,
            relative_tolerance=relative_tolerance,
            self_test=self_test,
        )
        self._differentiated = []

    def minimize(
        self,
        loss,
        global_step=None,
        var_list=None,
        gate_gradients=tf1.train.Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        name=None,
        grad_loss=None,
    ):
        """Returns the train op: gradients, step and search.

        Args:
          loss: float tensor; if it is not a scalar, its sum is minimised, as TensorFlow does.
          global_step: the variable to raise by one.
          var_list: the variables to change; all trainable ones if None.
          gate_gradients: as in `tf.compat.v1.train.Optimizer.minimize`, like those that follow.
          aggregation_method: how gradients are added up.
          colocate_gradients_with_ops: whether gradients are put on the devices of their ops.
          name: a name for the train op.
          grad_loss: a tensor to weigh a loss that is not a scalar.

        Raises:
          UsageError: the loss cannot be evaluated again; see `Replay`.
        """
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        return self.apply_gradients(grads_and_vars, global_step, name, loss=loss)

    def compute_gradients(
        self,
        loss,
        var_list=None,
        gate_gradients=tf1.train.Optimizer.GATE_OP,
        aggregation_method=None,
        colocate_gradients_with_ops=False,
        grad_loss=None,
    ):
        """Returns (gradient, variable) pairs, and remembers the loss for `apply_gradients`.

        Args:
          loss: float tensor; see `minimize`, which takes the other arguments too.
          var_list: the variables to differentiate by; all trainable ones if None.
          gate_gradients: as in `tf.compat.v1.train.Optimizer.compute_gradients`.
          aggregation_method: how gradients are added up.
          colocate_gradients_with_ops: whether gradients are put on the devices of their ops.
          grad_loss: a tensor to weigh a loss that is not a scalar.
        """
        _check_is_tensor(loss)
        objective = _objective(loss, grad_loss)
        # Copied before the gradients, which make loops keep values that a copy has no use for.
        replay = Replay(objective, _float_variables(var_list))
        grads_and_vars = self._optimizer.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        grads_and_vars = gradients_over_workers(grads_and_vars, objective)
        self._differentiated.append(Differentiated(loss, objective, replay, grads_and_vars))
        return grads_and_vars

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, *, loss=None):
        """Returns the train op: the wrapped optimizer's step for these gradients, and the search.

        Args:
          grads_and_vars: (gradient, variable) pairs, from `compute_gradients`, changed or not.
          global_step: the variable to raise by one.
          name: a name for the train op.
          loss: the loss to search by; needed where `compute_gradients` did not see it, and the
            gradients are then taken for those of this loss.

        Raises:
          UsageError: the loss is not known, or cannot be evaluated again.
        """
        grads_and_vars = gradients_over_workers(grads_and_vars)
        moved = [variable for gradient, variable in grads_and_vars if gradient is not None]
        if not moved:
            raise UsageError(
                "There is no gradient for any of "
                f"{[v.name for _, v in grads_and_vars]}: the loss does not depend on them, or "
                "only through ops that have no gradient"
            )
        searched = self._loss_of(moved, loss)
        check_all_replayed(searched.replay, moved)
        step = searched_step(self._settings, self._optimizer, grads_and_vars, searched, name=name)
        self._report(step)
        with tf.control_dependencies([step.done]):
            if global_step is None:
                train_op = tf.no_op()
            else:
                one = tf.ones([], global_step.dtype.base_dtype)
                train_op = tf.group(tf1.assign_add(global_step, one))
        _replace_in_collection(tf1.GraphKeys.TRAIN_OP, step.whole_step, train_op)
        return train_op

    def _loss_of(self, variables, loss):
        """The loss that the gradients for `variables` are of; forgets it and its like."""
        known, wanted = self._differentiated, {v.ref() for v in variables}
        if loss is not None:
            _check_is_tensor(loss)
            found = [d for d in known if d.loss is loss][-1:]
            if not found:
                objective = _objective(loss, None)
                found = [Differentiated(loss, objective, Replay(objective, variables), [])]
        else:
            found = [d for d in known if wanted <= {v.ref() for _, v in d.grads_and_vars}]
        if len(found) != 1:
            raise UsageError(
                "apply_gradients does not know the loss to search by: compute_gradients of this "
                f"optimizer was called for {len(found)} losses of these variables. Pass the loss "
                "that these gradients minimise: apply_gradients(..., loss=loss)"
            )
        self._differentiated = [d for d in self._differentiated if d is not found[0]]
        return found[0]

    def _report(self, step):
        tf1.add_to_collection(SEARCH_SECS, step.search_secs)
        self.loss_before, self.loss_after = step.loss_before, step.loss_after
        self.scale, self.trials = step.scale, step.trials
        self.accepted, self.searched = step.accepted, step.searched
        self.ascent, self.search_secs = step.ascent, step.search_secs
        rate = learning_rate_of(self._optimizer)
        self.learning_rate = step.scale * tf.cast(1.0 if rate is None else rate, step.scale.dtype)

    def get_slot(self, var, name):
        """Returns the wrapped optimizer's slot called `name` for the variable `var`, or None."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        """Returns the names of the wrapped optimizer's slots."""
        return self._optimizer.get_slot_names()

    def variables(self):
        """Returns the wrapped optimizer's variables."""
        return self._optimizer.variables()


def _check_is_tensor(loss):
    if not tf.is_tensor(loss):
        raise UsageError(
            f"loss={loss!r} cannot be minimised: give the loss tensor of the graph (a function, "
            "which TensorFlow takes in eager mode, cannot be searched)"
        )


def _objective(loss, grad_loss):
    weighed = loss if grad_loss is None else loss * tf.cast(grad_loss, loss.dtype)
    return weighed if weighed.shape.rank == 0 else tf.reduce_sum(weighed)


def _float_variables(var_list):
    if var_list is None:
        var_list = tf1.trainable_variables()
    return [v for v in tf.nest.flatten(var_list) if v.dtype.base_dtype.is_floating]


def _replace_in_collection(key, old, new):
    collection = tf1.get_collection_ref(key)
    collection[:] = [item for item in collection if item is not old] + [new]
