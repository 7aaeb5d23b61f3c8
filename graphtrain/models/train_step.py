"""The train op of our models: which optimizer, which learning rate, searched or not."""

import dataclasses

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError
from graphtrain.optimize import optimizers, schedules
from graphtrain.optimize.all_reduce_optimizer import AllReduceOptimizer
from graphtrain.optimize.line_search import LineSearchOptimizer
from graphtrain.optimize.rate_scale import learning_rate_scale
from graphtrain.optimize.rate_step import learning_rate_step
from graphtrain.optimize.searched_step import ON_FAILURE, check_policies

tf1 = tf.compat.v1

TRAIN_STEPS = ("normal", "line_search")


@dataclasses.dataclass(frozen=True)
class TrainSettings:
    """How a model is trained: what every one of our model_fns takes in `params`.

    Args:
      optimizer: a name in `graphtrain.optimize.optimizers.NAMES`.
      optimizer_settings: dict of arguments of that optimizer, such as {"momentum": 0.8}.
      learning_rate: a number > 0, or a schedule (`graphtrain.optimize.schedules`): a
        function of the global step tensor. It is given `graphtrain.learning_rate_step()`.
      train_step: "normal", or "line_search" to search along the optimizer's step for a
        scale at which the loss of the batch falls.
      condition: which trial is good enough, as in `graphtrain.LineSearchOptimizer`.
      first_scale: which scale is tried first, as there.
      search_every: how often a step is searched, as there.
      shrink: the factor from one trial's scale to the next, in (0, 1).
      min_learning_rate: no trial goes below this rate, > 0.
      on_failure: "restore" undoes a step that no trial accepted, "keep_last" keeps the
        last trial.
      seed: an int that fixes the model's random draws, or None for the graph's seed.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> TrainSettings.from_params({"optimizer": "adam", "learning_rate": 1e-3}).optimizer
      'adam'
    """

    optimizer: str = "sgd"
    optimizer_settings: dict = dataclasses.field(default_factory=dict)
    learning_rate: object = 0.1
    train_step: str = "normal"
    condition: object = "decrease"
    first_scale: object = "constant"
    search_every: object = 1
    shrink: float = 0.3
    min_learning_rate: float = 1e-6
    on_failure: str = "restore"
    seed: int | None = None

    def __post_init__(self):
        optimizers.check(self.optimizer, **self.optimizer_settings)
        if not callable(self.learning_rate):
            schedules.constant(self.learning_rate)
        checks.one_of("train_step", self.train_step, TRAIN_STEPS)
        check_policies(self.condition, self.first_scale, self.search_every)
        checks.real("shrink", self.shrink, above=0, below=1)
        checks.real("min_learning_rate", self.min_learning_rate, above=0)
        checks.one_of("on_failure", self.on_failure, ON_FAILURE)
        if self.seed is not None:
            checks.whole("seed", self.seed, at_least=0)

    @classmethod
    def from_params(cls, params):
        """Makes settings from the `params` of a model_fn.

        Args:
          params: a dict of name to value, or None; what is not there has its default.

        Returns:
          The settings.

        Raises:
          UsageError: a name is unknown, or a value makes no sense.
        """
        params = dict(params or {})
        allowed = [field.name for field in dataclasses.fields(cls)]
        unknown = [name for name in params if name not in allowed]
        if unknown:
            raise UsageError(
                f"params has unknown names {unknown}: allowed are {', '.join(allowed)}"
            )
        return cls(**params)


def make_train_op(loss, settings):
    """Makes the op of one training step, and its summaries.

    The step runs the graph's `UPDATE_OPS` once and adds 1 to the global step. Summaries:
    `learning_rate`; with the line search, `line_search/trials`, `line_search/scale` and
    `line_search/rejected` (1 if no trial was accepted, else 0).

    Args:
      loss: float scalar tensor.
      settings: `TrainSettings`.

    Returns:
      The op.

    Example:
      >>> weight = tf1.get_variable("weight", initializer=1.0)
      >>> train_op = make_train_op(weight**2, TrainSettings(learning_rate=0.25))
      >>> with tf1.Session() as session:
      ...     session.run(tf1.global_variables_initializer())
      ...     session.run(train_op)
      ...     print(*session.run([weight, tf1.train.get_global_step()]))
      0.5 1
    """
    global_step = tf1.train.get_or_create_global_step()
    schedule = settings.learning_rate
    if not callable(schedule):
        schedule = schedules.constant(schedule)
    learning_rate = schedule(learning_rate_step()) * learning_rate_scale()
    tf1.summary.scalar("learning_rate", learning_rate)

    optimizer = optimizers.make(settings.optimizer, learning_rate, **settings.optimizer_settings)
    if settings.train_step == "line_search":
        optimizer = LineSearchOptimizer(
            optimizer,
            condition=settings.condition,
            first_scale=settings.first_scale,
            search_every=settings.search_every,
            shrink=settings.shrink,
            # The floor is a rate, so its scale grows as the rate decays; at 1 the first
            # trial is the only one.
            min_scale=tf.minimum(settings.min_learning_rate / learning_rate, 1.0),
            on_failure=settings.on_failure,
        )
    else:
        optimizer = AllReduceOptimizer(optimizer)
    with tf1.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step=global_step)
    if settings.train_step == "line_search":
        _summarize_search(optimizer)
    return train_op


def _summarize_search(optimizer):
    values = {
        "trials": optimizer.trials,
        "scale": optimizer.scale,
        "rejected": tf.cast(~optimizer.accepted, tf.int32),
    }
    for name, value in values.items():
        # `tf.compat.v1.summary.scalar` would give it another tag where a variable of the search
        # has the name.
        summary = tf.raw_ops.ScalarSummary(
            tags=f"line_search/{name}", values=value, name=f"line_search_{name}"
        )
        tf1.add_to_collection(tf1.GraphKeys.SUMMARIES, summary)
