"""What evaluate.py, predict.py and export.py must know of a run: train.py keeps it in model_dir."""

import json
import os
import pathlib

from absl import flags

import graphtrain
from graphtrain import models
from graphtrain.errors import DataError, UsageError
from graphtrain.session import checkpoints

# The script that calls define_flags owns the flags: its --helpshort shows them.
flags.disclaim_key_flags()

_FILE = "settings.json"
# A checkpoint fits no other model, and no other optimizer's variables.
_FIXED = ("model", "optimizer")


def define_flags(flag_values):
    """Defines --model_dir and --eval_batch_size for a script that uses a trained run."""
    flags.DEFINE_string(
        "model_dir", None, "the folder that train.py wrote to", flag_values, required=True
    )
    flags.DEFINE_integer(
        "eval_batch_size", 500, "images in one batch", lower_bound=1, flag_values=flag_values
    )


def check(values):
    """Refuses to go on with a run of another model or optimizer.

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


def save(values):
    """Writes what the other scripts must know of a run, if it is not written yet.

    Args:
      values: the parsed flags of train.py.
    """
    settings = {name: values[name].value for name in (*_FIXED, "data")}
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
