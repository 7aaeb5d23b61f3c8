"""Warm start: the first values of a new run are taken from the checkpoint of another one."""

import collections
import dataclasses
import os

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.session import checkpoints
from graphtrain.session.fitting_saver import listed, saved_form, variables_in

tf1 = tf.compat.v1

VocabInfo = tf1.train.VocabInfo
_OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


class WarmStartSettings(
    collections.namedtuple(
        "WarmStartSettings",
        "ckpt_to_initialize_from vars_to_warm_start var_name_to_vocab_info "
        "var_name_to_prev_var_name",
    )
):
    """What a warm start takes from which checkpoint.

    Args:
      ckpt_to_initialize_from: str or path of a checkpoint, or of a directory with checkpoints.
      vars_to_warm_start: regular expression of names of trainable variables; or a list of such
        expressions, which mean all variables (batch norm's averages and slots too); or a list
        of variables; or None, for the variables with a vocabulary only.
      var_name_to_vocab_info: dict of variable name to `VocabInfo`, for those whose rows are
        words, in another order or number than before.
      var_name_to_prev_var_name: dict of variable name to its name in the checkpoint, where they
        differ.

    Raises:
      UsageError: no checkpoint is given.

    Example:
      >>> WarmStartSettings("/tmp/run", vars_to_warm_start="dense.*").vars_to_warm_start
      'dense.*'
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from,
        vars_to_warm_start=".*",
        var_name_to_vocab_info=None,
        var_name_to_prev_var_name=None,
    ):
        """Validates the arguments; see the class."""
        if not ckpt_to_initialize_from:
            raise UsageError(
                f"ckpt_to_initialize_from must name a checkpoint, got {ckpt_to_initialize_from!r}."
            )
        return super().__new__(
            cls,
            os.fspath(ckpt_to_initialize_from),
            vars_to_warm_start,
            dict(var_name_to_vocab_info or {}),
            dict(var_name_to_prev_var_name or {}),
        )


@dataclasses.dataclass(frozen=True)
class WarmStartReport:
    """What a warm start did.

    Attributes:
      checkpoint: str, where the values came from.
      restored: list of the variables that took their values from there.
      fresh: list of the variables that start by their initializers.
      unused: list of the names in the checkpoint of which nothing was taken.
    """

    checkpoint: str
    restored: list
    fresh: list
    unused: list


def settings_of(warm_start_from):
    """Returns the settings that an Estimator's `warm_start_from` means.

    Args:
      warm_start_from: `WarmStartSettings`; or the path of a checkpoint, of a directory with
        checkpoints, or of a SavedModel, from which all trainable variables are taken; or None.

    Returns:
      `WarmStartSettings` or None.

    Raises:
      UsageError: it is none of these.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, os.PathLike)):
        raise UsageError(
            f"warm_start_from must be a path or a WarmStartSettings, got {warm_start_from!r}."
        )
    path = os.fspath(warm_start_from)
    variables = os.path.join(path, "variables", "variables")
    return WarmStartSettings(variables if tf.io.gfile.exists(f"{variables}.index") else path)


class WarmStart:
    """The warm start of an Estimator, and how it went.

    Args:
      settings: `WarmStartSettings`, or None for no warm start.

    Attributes:
      report: `WarmStartReport`; None as long as there was none.
    """

    def __init__(self, settings):
        self._settings = settings
        self.report = None

    def apply(self, model_dir):
        """Lets a new run's variables, those of the default graph, begin by the settings.

        Args:
          model_dir: str, the run's directory. If it has a checkpoint, that one is resumed.

        Raises:
          UsageError: the checkpoint lacks a variable that is to be taken, or has it in another
            shape.
        """
        if self._settings is None:
            return
        resumed = checkpoints.newest(model_dir)
        if resumed is None:
            self.report = _take_values(self._settings)
            return
        tf1.logging.info(
            "the warm start from %s is ignored, resuming %s",
            self._settings.ckpt_to_initialize_from,
            resumed,
        )


def _take_values(settings):
    path = settings.ckpt_to_initialize_from
    saved = _shapes_in(path)
    if _OBJECT_GRAPH not in saved:
        _check(settings, saved)
    initializers = {v.op.name: v.initializer for v in tf1.global_variables()}
    tf1.train.warm_start(*settings)
    changed = [v for v in tf1.global_variables() if v.initializer is not initializers[v.op.name]]
    restored = {saved_form(v)[0] for v in changed}
    previous = {settings.var_name_to_prev_var_name.get(name, name) for name in restored}
    report = WarmStartReport(
        path,
        restored=sorted(restored),
        fresh=sorted({saved_form(v)[0] for v in tf1.global_variables()} - restored),
        unused=sorted(set(saved) - previous),
    )
    tf1.logging.info(
        "warm start from %s. Restored: %s. Fresh: %s. Unused in the checkpoint: %s.",
        path,
        *(listed(names) for names in (report.restored, report.fresh, report.unused)),
    )
    return report


def _shapes_in(path):
    try:
        return variables_in(path)
    except (ValueError, tf.errors.OpError) as error:
        raise UsageError(f"There is no checkpoint to warm start from at {path!r}.") from error


def _check(settings, saved):
    missing, changed, named = set(), set(), set()
    for variable in _selected(settings):
        name, shape = saved_form(variable)
        previous = settings.var_name_to_prev_var_name.get(name, name)
        named.add(previous)
        if previous not in saved:
            missing.add(previous)
        elif name not in settings.var_name_to_vocab_info and not shape.is_compatible_with(
            saved[previous]
        ):
            changed.add(f"{name} ({saved[previous]} in the checkpoint, {shape.as_list()} here)")
    if missing or changed:
        raise UsageError(
            f"The warm start from {settings.ckpt_to_initialize_from} cannot take all that it "
            f"should. Missing in the checkpoint: {listed(sorted(missing))}. Changed in shape: "
            f"{listed(sorted(changed))}. Unused in the checkpoint: "
            f"{listed(sorted(set(saved) - named))}. Leave out what is to start fresh by "
            "WarmStartSettings(vars_to_warm_start=...), or give its old name by "
            "var_name_to_prev_var_name."
        )


def _selected(settings):
    """Returns the variables that TensorFlow's warm start will take."""
    wanted = settings.vars_to_warm_start
    if wanted is None:
        trainable = tf1.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES)
        return [v for v in trainable if saved_form(v)[0] in settings.var_name_to_vocab_info]
    if isinstance(wanted, str):
        return tf1.get_collection(tf1.GraphKeys.TRAINABLE_VARIABLES, scope=wanted)
    if not isinstance(wanted, list):
        raise UsageError(
            "vars_to_warm_start must be a regular expression, a list of them, a list of variables "
            f"or None, got {wanted!r}."
        )
    named = [
        variable
        for part in wanted
        if isinstance(part, str)
        for variable in tf1.global_variables(scope=part)
    ]
    return named + [part for part in wanted if not isinstance(part, str)]
