"""What evaluate.py, predict.py and export.py must know of a run: train.py keeps it in model_dir."""

import json
import os
import pathlib

from absl import flags as absl_flags

import graphtrain
from graphtrain import flags, models
from graphtrain.errors import DataError, UsageError
from graphtrain.session import checkpoints
from graphtrain.session.safety import KEEP

# The script that calls define_flags owns the flags: its --helpshort shows them.
absl_flags.disclaim_key_flags()

_FILE = "settings.json"
# A checkpoint fits no other model, and no other optimizer's variables.
_FIXED = ("model", "optimizer")
_RATE = (
    "learning_rate",
    "learning_rate_schedule",
    "decay_steps",
    "decay_rate",
    "staircase",
    "boundaries",
    "values",
    "end_learning_rate",
    "warmup_steps",
)


def define_flags(flag_values):
    """Defines --model_dir and --eval_batch_size for a script that uses a trained run."""
    absl_flags.DEFINE_string(
        "model_dir", None, "the folder that train.py wrote to", flag_values, required=True
    )
    absl_flags.DEFINE_integer(
        "eval_batch_size", 500, "images in one batch", lower_bound=1, flag_values=flag_values
    )


def check(values):
    """Refuses to go on with a run of another model or optimizer, or unasked at another rate.

    Args:
      values: the parsed flags of train.py.

    Raises:
      UsageError: model_dir holds such a run.
    """
    saved = _read(values.model_dir) or {}
    for name in _FIXED:
        if name in saved and saved[name] != values[name].value:
            raise UsageError(
                f"{values.model_dir} holds a run with --{name}={saved[name]}, not "
                f"{values[name].value}: give --{name}={saved[name]} or another --model_dir"
            )
    if values.learning_rate_on_resume == KEEP:
        _check_rate(values.model_dir, saved.get("learning_rate"), _rate(values))


def save(values):
    """Writes what the other scripts must know of a run, if it is not written yet.

    Args:
      values: the parsed flags of train.py.
    """
    settings = {name: values[name].value for name in (*_FIXED, "data")}
    settings["learning_rate"] = _rate(values)
    settings["data_dir"] = values.data_dir and os.path.abspath(values.data_dir)
    if settings != _read(values.model_dir):
        _write(values.model_dir, settings)


def load(model_dir):
    """Reads what train.py saved.

    Args:
      model_dir: the folder that train.py wrote to.

    Returns:
      A dict with the keys "model", "data" and "data_dir".

    Raises:
      UsageError: there is no such run, or it has no checkpoint yet.
    """
    settings = _read(model_dir)
    if settings is None or checkpoints.newest(model_dir) is None:
        raise UsageError(
            f"{model_dir} holds no trained run: give the folder that train.py wrote to"
        )
    return settings


def classifier(model_dir, settings):
    """Makes the Estimator of a run.

    Args:
      model_dir: the folder that train.py wrote to.
      settings: what `load` returned.

    Returns:
      A `graphtrain.Estimator` to evaluate, predict and export with.
    """
    model_fn = getattr(models, f"{settings['model']}_model_fn")
    return graphtrain.Estimator(model_fn, model_dir=model_dir)


def _rate(values):
    """The flags of the learning rate and their values, as they come back from a file."""
    rate = {name: values[name].value for name in _RATE}
    if rate["learning_rate"] is None:
        rate["learning_rate"] = flags.DEFAULT_LEARNING_RATES[values.optimizer]
    return rate


def _check_rate(model_dir, saved, given):
    if not isinstance(saved, dict):
        return  # It was begun before its rate was written down.
    for name in _RATE:
        if saved.get(name) != given[name]:
            raise UsageError(
                f"{model_dir} holds a run {_written(name, saved.get(name))}, not "
                f"{_written(name, given[name])}: give what it had, or "
                "--learning_rate_on_resume=override to go on with another, or =restart to begin "
                "the schedule anew"
            )


def _written(name, value):
    if isinstance(value, list):
        value = ",".join(f"{number:g}" for number in value)
    return f"without --{name}" if value is None or value is False else f"with --{name}={value}"


def _read(model_dir):
    path = pathlib.Path(model_dir, _FILE)
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise DataError(f"{path} is damaged ({error}): remove it and run train.py again") from error
    if not isinstance(settings, dict) or settings.get("model") not in ("mlp", "cnn"):
        raise DataError(f"{path} names no model: remove it and run train.py again")
    return settings


def _write(model_dir, settings):
    # Whoever reads it meanwhile, or after a crash, finds the whole old file or the whole new one.
    path = pathlib.Path(model_dir, _FILE)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        raise UsageError(f"{model_dir} cannot be written to: {error.strerror}") from error
