"""TensorFlow's own optimizers, by name and with checked settings."""

import functools

import tensorflow as tf

from graphtrain import checks
from graphtrain.errors import UsageError

tf1 = tf.compat.v1

_FRACTION = {"at_least": 0, "below": 1}
_POSITIVE = {"above": 0}
_NOT_NEGATIVE = {"at_least": 0}
_MOMENTUM = functools.partial(tf1.train.MomentumOptimizer, momentum=0.9)

# Name: how it is made, and the bounds of each setting. Defaults are TensorFlow's.
_OPTIMIZERS = {
    "sgd": (tf1.train.GradientDescentOptimizer, {}),
    "momentum": (_MOMENTUM, {"momentum": _FRACTION}),
    "nesterov": (functools.partial(_MOMENTUM, use_nesterov=True), {"momentum": _FRACTION}),
    "adam": (
        tf1.train.AdamOptimizer,
        {"beta1": _FRACTION, "beta2": _FRACTION, "epsilon": _POSITIVE},
    ),
    "adagrad": (tf1.train.AdagradOptimizer, {"initial_accumulator_value": _POSITIVE}),
    "adadelta": (tf1.train.AdadeltaOptimizer, {"rho": _FRACTION, "epsilon": _POSITIVE}),
    "rmsprop": (
        tf1.train.RMSPropOptimizer,
        {"decay": _FRACTION, "momentum": _FRACTION, "epsilon": _POSITIVE},
    ),
    "ftrl": (
        tf1.train.FtrlOptimizer,
        {
            "learning_rate_power": {"at_most": 0},
            "initial_accumulator_value": _NOT_NEGATIVE,
            "l1_regularization_strength": _NOT_NEGATIVE,
            "l2_regularization_strength": _NOT_NEGATIVE,
        },
    ),
}

NAMES = tuple(_OPTIMIZERS)


def check(name, **settings):
    """Checks the name of an optimizer and its settings, without a graph.

    Args:
      name: one of `NAMES`.
      **settings: as for `make`.

    Returns:
      The settings, as floats.

    Raises:
      UsageError: the name is unknown, or a setting is unknown or makes no sense.

    Example:
      >>> check("momentum", momentum=0)
      {'momentum': 0.0}
    """
    _, bounds = _OPTIMIZERS[checks.one_of("optimizer", name, NAMES)]
    for setting in settings:
        if setting not in bounds:
            allowed = ", ".join(bounds) if bounds else "none"
            raise UsageError(f"{setting!r} is no setting of optimizer {name!r}: allowed: {allowed}")
    return {
        setting: checks.real(setting, value, **bounds[setting])
        for setting, value in settings.items()
    }


def make(name, learning_rate, **settings):
    """Makes one of TensorFlow's optimizers.

    Args:
      name: one of `NAMES`: `sgd`, `momentum` (0.9 by default), `nesterov` (the same with
        Nesterov's look ahead), `adam`, `adagrad`, `adadelta`, `rmsprop`, `ftrl`.
      learning_rate: a float scalar tensor, such as a schedule of the global step gives, or
        a number > 0.
      **settings: arguments of the optimizer's class in `tf.compat.v1.train`, such as
        momentum=0.8; what is not given has TensorFlow's default.

    Returns:
      A `tf.compat.v1.train.Optimizer`.

    Raises:
      UsageError: the name is unknown, or a setting is unknown or makes no sense.

    Example:
      >>> make("adam", 1e-3, beta1=0.8).get_name()
      'Adam'
    """
    settings = check(name, **settings)
    if not tf.is_tensor(learning_rate):
        learning_rate = checks.real("learning_rate", learning_rate, above=0)
    factory, _ = _OPTIMIZERS[name]
    return factory(learning_rate, **settings)
