"""Flags of the line search: which rates are tried, which is good enough, and how often."""

from graphtrain._flag_kinds import as_number
from graphtrain.optimize import frequency
from graphtrain.optimize.conditions import CONDITIONS
from graphtrain.optimize.first_scale import FIRST_SCALES
from graphtrain.optimize.searched_step import ON_FAILURE

# The flags that are settings of `graphtrain.models.train_step.TrainSettings` of the same name.
SETTINGS = (
    "condition",
    "first_scale",
    "search_every",
    "shrink",
    "min_learning_rate",
    "on_failure",
)


def define_search_flags(group):
    """Defines the flags of the line search.

    Args:
      group: the `FlagGroup` that they are part of.
    """
    group.choice(
        "condition",
        "decrease",
        list(CONDITIONS),
        "line search: which rate is good enough: one that lowers the loss, or lowers it by a part "
        "of what its slope promises, or that against a mean of past losses",
    )
    group.choice(
        "first_scale",
        "constant",
        list(FIRST_SCALES),
        "line search: which part of the step is tried first: all, the last one and somewhat more, "
        "or Polyak's",
    )
    group.parsed(
        "search_every",
        1,
        "a whole number or adaptive",
        _search_every,
        "line search: search at every so many steps; adaptive: less often as the rate settles",
    )
    group.real(
        "shrink", 0.3, "line search: a rejected rate is tried again times this", above=0, below=1
    )
    group.real("min_learning_rate", 1e-6, "line search: the smallest rate tried", above=0)
    group.choice(
        "on_failure",
        "restore",
        list(ON_FAILURE),
        "line search: if no rate is good enough, undo the step or keep the last trial",
    )


def _search_every(text):
    value = as_number(text)
    frequency.from_argument(value)
    return value if isinstance(value, str) else int(value)
