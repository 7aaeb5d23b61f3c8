"""What each setting of a RunConfig may be: a check returns the value, or says what is allowed."""

import copy
import inspect
import os

import tensorflow as tf

from graphtrain import checks
from graphtrain.distribute import tf_config
from graphtrain.distribute.modes import DISTRIBUTIONS
from graphtrain.errors import UsageError
from graphtrain.session.safety import SafetyConfig

tf1 = tf.compat.v1


def _optional(check):
    return lambda name, value: None if value is None else check(name, value)


def _whole(at_least):
    return lambda name, value: checks.whole(name, value, at_least=at_least)


def _number(**bounds):
    return lambda name, value: checks.real(name, value, **bounds)


def _directory(name, value):
    path = os.fspath(value)
    if not isinstance(path, str) or not path:
        raise UsageError(f"{name} must be the name of a directory, got {value!r}.")
    return path


def _seed(name, value):
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise UsageError(f"{name} must be an integer, got {value!r}.")
    return value.__index__()


def _session_config(name, value):
    if not isinstance(value, tf1.ConfigProto):
        raise UsageError(f"{name} must be a tf.compat.v1.ConfigProto, got {value!r}.")
    return copy.deepcopy(value)


def _device_fn(name, value):
    if not callable(value) or list(inspect.signature(value).parameters) != ["op"]:
        raise UsageError(f"{name} must be a callable with one argument, op, got {value!r}.")
    return value


def _no_strategy(name, value):
    raise UsageError(
        f"{name} must be None, got {value!r}: tf.distribute strategies cannot be used. Several "
        "processes are described by TF_CONFIG."
    )


def _protocol(name, value):
    return checks.one_of(name, value, ["grpc"])


def _flag(name, value):
    if not isinstance(value, bool):
        raise UsageError(f"{name} must be True or False, got {value!r}.")
    return value


def _safety(name, value):
    if not isinstance(value, SafetyConfig):
        raise UsageError(f"{name} must be a graphtrain.SafetyConfig, got {value!r}.")
    return value


def cluster(name, value):
    """Returns a `ClusterSettings`, or says what it must be."""
    if not isinstance(value, tf_config.ClusterSettings):
        raise UsageError(
            f"{name} must be a ClusterSettings, such as cluster_from_flags() returns, got "
            f"{value!r}."
        )
    return value


def _distribution(name, value):
    return checks.one_of(name, value, DISTRIBUTIONS)


def _steps_per_run(name, value):
    return value if value == "auto" else checks.whole(name, value)


CHECKS = {
    "model_dir": _optional(_directory),
    "tf_random_seed": _optional(_seed),
    "save_summary_steps": _optional(_whole(at_least=0)),
    "save_checkpoints_steps": _optional(_whole(at_least=0)),
    "save_checkpoints_secs": _optional(_number(at_least=0)),
    "session_config": _optional(_session_config),
    "keep_checkpoint_max": _optional(_whole(at_least=0)),
    "keep_checkpoint_every_n_hours": _number(above=0),
    "log_step_count_steps": _optional(_whole(at_least=1)),
    "train_distribute": _optional(_no_strategy),
    "device_fn": _optional(_device_fn),
    "protocol": _optional(_protocol),
    "eval_distribute": _optional(_no_strategy),
    "experimental_distribute": _optional(_no_strategy),
    "experimental_max_worker_delay_secs": _optional(_number(at_least=0)),
    "session_creation_timeout_secs": _number(above=0),
    "checkpoint_save_graph_def": _flag,
    "steps_per_run": _steps_per_run,
    "report_time": _flag,
    "safety": _safety,
    "distribution": _optional(_distribution),
    "start_timeout_secs": _number(at_least=0),
    "end_timeout_secs": _number(at_least=0),
    "stall_timeout_secs": _number(above=0),
}
