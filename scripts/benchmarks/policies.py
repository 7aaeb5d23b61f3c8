"""The entries of the case `learning`: what is tuned over a grid, and what is not tuned at all."""

import dataclasses
import typing

import tensorflow as tf

import graphtrain
from graphtrain.optimize.first_scale import Grow

tf1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class Entry:
    """A way to train.

    Args:
      policy: what it is called.
      rate: its learning rate, or "" if the policy needs no tuning.
      make: a function of the number of steps in an epoch that returns the optimizer.
    """

    policy: str
    rate: float | str
    make: typing.Callable


# Name to the optimizer of a rate, and the rates.
TUNED = {
    "sgd": (tf1.train.GradientDescentOptimizer, (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)),
    "momentum": (
        lambda rate: tf1.train.MomentumOptimizer(rate, 0.9),
        (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
    ),
    "adam": (tf1.train.AdamOptimizer, (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)),
}


def _sgd(rate=1.0, **settings):
    return _searched(tf1.train.GradientDescentOptimizer(rate), **settings)


def _adam(**settings):
    return _searched(tf1.train.AdamOptimizer(0.001), **settings)


def _momentum(**settings):
    return _searched(tf1.train.MomentumOptimizer(0.1, 0.9), **settings)


def _searched(optimizer, *, condition="armijo", shrink=0.7, **settings):
    return graphtrain.LineSearchOptimizer(optimizer, condition=condition, shrink=shrink, **settings)


def _per_epoch(steps_per_epoch):
    """Vaswani and others' growth: twice the scale after an epoch."""
    return Grow(2.0, steps_per_factor=steps_per_epoch)


# Name to a function of the number of steps in an epoch that returns the optimizer.
UNTUNED = {
    "article": lambda steps: _sgd(0.1, condition="decrease", shrink=0.3, on_failure="keep_last"),
    "sgd_armijo": lambda steps: _sgd(),
    "sgd_grow": lambda steps: _sgd(first_scale=_per_epoch(steps)),
    "sgd_grow_cubic": lambda steps: _sgd(first_scale=_per_epoch(steps), interpolation="cubic"),
    "sgd_grow_adaptive": lambda steps: _sgd(first_scale=_per_epoch(steps), search_every="adaptive"),
    "sgd_ponos": lambda steps: _sgd(condition="nonmonotone", first_scale="polyak", shrink=0.5),
    "momentum_grow": lambda steps: _momentum(first_scale=_per_epoch(steps), on_ascent="restore"),
    "adam_guarded": lambda steps: _adam(condition="decrease", search_every=10),
    "adam_grow": lambda steps: _adam(first_scale="grow"),
    "adam_grow_adaptive": lambda steps: _adam(first_scale="grow", search_every="adaptive"),
    "adam_grow_slowly": lambda steps: _adam(first_scale=_per_epoch(steps), search_every="adaptive"),
}

POLICIES = (*TUNED, *UNTUNED)


def entries(policies, *, every_rate):
    """Lists the entries of some policies.

    Args:
      policies: names in `POLICIES`.
      every_rate: whether the whole grid is wanted, or every other rate of it.

    Returns:
      A list of entries.
    """
    found = []
    for policy, (make, rates) in TUNED.items():
        for rate in rates[:: 1 if every_rate else 2]:
            found.append(Entry(policy, rate, lambda steps, make=make, rate=rate: make(rate)))
    found += [Entry(policy, "", make) for policy, make in UNTUNED.items()]
    return [entry for entry in found if entry.policy in policies]
