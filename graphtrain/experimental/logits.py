"""Calling a function that builds logits with what it has arguments for."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator.model import arguments_of


def call_logit_fn(logit_fn, features, mode, params, config):
    """Calls a function that builds logits.

    Args:
      logit_fn: callable with `features` and any of `mode`, `params`, `config`.
      features: tensor or dict of tensors.
      mode: a `ModeKeys` value.
      params: what the function takes as settings.
      config: `RunConfig`.

    Returns:
      The logits: a tensor, or a dict of str to tensor.

    Raises:
      UsageError: the function returned something else.

    Example:
      >>> def logit_fn(features, params):
      ...     return features * params["scale"]
      >>> call_logit_fn(logit_fn, tf.ones([2, 3]), "train", {"scale": 2.0}, None).shape
      TensorShape([2, 3])
    """
    wanted = arguments_of(logit_fn)
    offered = {"mode": mode, "params": params, "config": config}
    logits = logit_fn(
        features=features, **{name: offered[name] for name in offered if name in wanted}
    )
    if not tf.is_tensor(logits) and not _is_dict_of_tensors(logits):
        raise UsageError(
            f"logit_fn must return a tensor or a dict of str to tensor, got {logits!r}."
        )
    return logits


def _is_dict_of_tensors(value):
    return isinstance(value, dict) and all(
        isinstance(name, str) and tf.is_tensor(tensor) for name, tensor in value.items()
    )
