"""A model_fn with its settings: how it and the input_fns are called."""

import copy
import dataclasses
import functools
import inspect
import os
import tempfile
import typing

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.estimator.run_config import RunConfig, default_session_config
from graphtrain.estimator.spec import EstimatorSpec
from graphtrain.estimator.warm_start import WarmStart
from graphtrain.session import global_step, inputs
from graphtrain.stopwatch import Stopwatch

tf1 = tf.compat.v1

_MODEL_FN_ARGUMENTS = {"features", "labels", "mode", "params", "config"}


@dataclasses.dataclass(frozen=True)
class Model:
    """What training, evaluation, prediction and export know of an Estimator.

    Attributes:
      model_fn: callable with `features` and any of `labels`, `mode`, `params`, `config`.
      config: `RunConfig` whose `model_dir` is set.
      params: what the model_fn and the input_fns get as `params`.
      warm_start: `WarmStart` of a training that begins anew.
      watch: `Stopwatch` of what the time goes to.
    """

    model_fn: typing.Callable
    config: RunConfig
    params: typing.Any
    warm_start: WarmStart
    watch: Stopwatch = dataclasses.field(default_factory=Stopwatch)

    @property
    def model_dir(self):
        """The directory of checkpoints and event files."""
        return self.config.model_dir

    @property
    def session_config(self):
        """The `ConfigProto` of every session."""
        return self.config.session_config or default_session_config()

    def start_graph(self):
        """Gives the default graph its seed and its global step, before any other op."""
        tf1.set_random_seed(self.config.tf_random_seed)
        global_step.get_or_create()

    def call_input_fn(self, input_fn, mode, input_context=None):
        """Returns the (features, labels) of an input_fn, declared as the graph's input.

        Args:
          input_fn: callable with any of `mode`, `params`, `config` and `input_context`.
          mode: `ModeKeys` value.
          input_context: `tf.distribute.InputContext`, the shard to read; None for all data.
        """
        offered = {
            "mode": mode,
            "params": copy.deepcopy(self.params),
            "config": self.config,
            "input_context": input_context or tf.distribute.InputContext(),
        }
        wanted = arguments_of(input_fn)
        # Input belongs on the host whatever device_fn says.
        with tf1.device("/cpu:0"):
            result = input_fn(**{name: offered[name] for name in offered if name in wanted})
            return inputs.features_and_labels(result)

    def call_model_fn(self, features, labels, mode):
        """Returns the EstimatorSpec that the model_fn makes in the default graph."""
        wanted = arguments_of(self.model_fn)
        if labels is not None and "labels" not in wanted:
            raise UsageError(
                f"The model_fn {self.model_fn!r} takes no labels, but the input_fn returned some."
            )
        offered = {
            "labels": labels,
            "mode": mode,
            "params": copy.deepcopy(self.params),
            "config": self.config,
        }
        kwargs = {name: offered[name] for name in offered if name in wanted}
        spec = self.model_fn(features=features, **kwargs)
        if not isinstance(spec, EstimatorSpec):
            raise UsageError(f"A model_fn must return an EstimatorSpec, got {spec!r}.")
        # A step that the model_fn made beside ours is found here.
        global_step.get_or_create()
        return spec


def config_with_model_dir(config, model_dir):
    """Returns an Estimator's RunConfig, whose `model_dir` is set.

    Args:
      config: `RunConfig`, or None for the default.
      model_dir: str or path, or None; if the config has none either, a temporary one is made.

    Raises:
      UsageError: there are two directories, or `config` is something else.
    """
    config = RunConfig() if config is None else config
    if not isinstance(config, RunConfig):
        raise UsageError(f"config must be a RunConfig, got {config!r}.")
    if model_dir is None:
        if config.model_dir is not None:
            return config
        model_dir = tempfile.mkdtemp()
        tf1.logging.warning("no model_dir was given, using the temporary %s", model_dir)
        return config.replace(model_dir=model_dir)
    model_dir = os.fspath(model_dir)
    if config.model_dir not in (None, model_dir):
        raise UsageError(
            f"model_dir is {model_dir!r} as an argument, but {config.model_dir!r} in the "
            "RunConfig: give it once."
        )
    return config.replace(model_dir=model_dir)


def check_model_fn(model_fn, params):
    """Refuses a model_fn that cannot be called with what an Estimator has.

    Args:
      model_fn: callable.
      params: the Estimator's `params`, or None.

    Raises:
      UsageError: `features` is missing, another argument is unknown, or params were given to a
        model_fn that takes none.
    """
    if not callable(model_fn):
        raise UsageError(f"model_fn must be callable, got {model_fn!r}.")
    wanted = arguments_of(model_fn)
    if "features" not in wanted:
        raise UsageError(f"The model_fn {model_fn!r} must have an argument named features.")
    unknown = sorted(set(wanted) - _MODEL_FN_ARGUMENTS)
    if unknown:
        raise UsageError(
            f"The model_fn {model_fn!r} has arguments that an Estimator does not know: "
            f"{', '.join(unknown)}; it knows features, labels, mode, params and config."
        )
    if params is not None and "params" not in wanted:
        raise UsageError(
            f"The model_fn {model_fn!r} has no argument named params, but the Estimator was given "
            f"params={params!r}."
        )


def arguments_of(function):
    """Returns the names of the arguments that `function` can still be given.

    Args:
      function: a function, a method, a `functools.partial` or an object with `__call__`.

    Returns:
      Tuple of str, without those that a partial has bound.

    Example:
      >>> arguments_of(functools.partial(lambda features, mode, params: None, params={}))
      ('features', 'mode')
    """
    bound = function.keywords if isinstance(function, functools.partial) else {}
    return tuple(
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in bound
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    )
