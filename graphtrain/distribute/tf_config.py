"""TF_CONFIG: which process this is of which cluster, as tf.estimator read it."""

import json

from graphtrain.distribute.cluster_settings import (
    EVALUATOR,
    WORKER,
    ClusterSettings,
    Words,
    likely,
    settings_of,
)
from graphtrain.errors import UsageError

_KEYS = ("cluster", "task", "service", "model_dir", "session_master", "eval_session_master")
_WORDS = Words(
    cluster='"cluster" of TF_CONFIG',
    job='"{}" in "cluster" of TF_CONFIG',
    task_type='"type" in "task" of TF_CONFIG',
    task_id='"index" in "task" of TF_CONFIG',
)


def parse(text):
    """Returns what the text of TF_CONFIG says.

    Args:
      text: str, JSON; empty for one process. If the cluster has neither a chief nor a master,
        worker 0 is the chief.

    Returns:
      `ClusterSettings`.

    Raises:
      UsageError: it is no such JSON, or the task is not one of the cluster's.

    Example:
      >>> cluster = '{"chief": ["a:1"], "ps": ["b:1"]}'
      >>> settings = parse('{"cluster": %s, "task": {"type": "ps", "index": 0}}' % cluster)
      >>> settings.master, settings.is_chief, settings.global_id_in_cluster
      ('grpc://b:1', False, 1)
    """
    config = _object("TF_CONFIG", _json(text)) if text.strip() else {}
    _check_keys(config)
    task = _object('"task" of TF_CONFIG', config.get("task", {}))
    service = config.get("service")
    others = {
        "service": None if service is None else _object('"service" of TF_CONFIG', service),
        "model_dir": _model_dir(config.get("model_dir")),
    }
    for key, field in (("session_master", "master"), ("eval_session_master", "evaluation_master")):
        if key in config:
            others[field] = config[key]
    if "cluster" not in config and task.get("type") != EVALUATOR:
        _check_local(task)
        return ClusterSettings(**others)
    jobs = _object('"cluster" of TF_CONFIG', config.get("cluster", {}))
    return settings_of(jobs, task.get("type"), task.get("index"), words=_WORDS, **others)


def _json(text):
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        hint = ""
        if text.strip()[0] in "'\"`":
            hint = " Leave out the quotes around it."
        elif "'" in text:
            hint = ' JSON has double quotes ("), not single ones.'
        raise UsageError(f"TF_CONFIG is not valid JSON ({error}): {text!r}.{hint}") from error


def _object(name, value):
    if isinstance(value, dict):
        return value
    hint = " It is in quotes: leave them out." if isinstance(value, str) else ""
    raise UsageError(f"{name} must be a JSON object, got {value!r}.{hint}")


def _check_keys(config):
    # Platforms add keys of their own; one that is nearly ours is a mistake.
    for key in config:
        question = "" if key in _KEYS else likely(key, _KEYS)
        if question:
            raise UsageError(f'"{key}" in TF_CONFIG is not known: {question.strip()}')


def _model_dir(value):
    if value is not None and not (isinstance(value, str) and value):
        raise UsageError(f'"model_dir" of TF_CONFIG must name a directory, got {value!r}.')
    return value


def _check_local(task):
    task_type, task_id = task.get("type", WORKER), task.get("index", 0)
    if (task_type, str(task_id)) != (WORKER, "0"):
        raise UsageError(
            'TF_CONFIG has no "cluster", so the task must be worker 0, got '
            f"{task_type!r} {task_id!r}."
        )
