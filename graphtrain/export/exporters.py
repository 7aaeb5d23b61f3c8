"""Exporters: what `train_and_evaluate` exports, and when."""

import abc
import os

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.export.record import ExportRecord, checked_exports_to_keep

tf1 = tf.compat.v1


class Exporter(abc.ABC):
    """Something that `train_and_evaluate` calls after each evaluation, to export the model.

    A subclass of your own has a `name` and a method `export`.
    """

    @property
    @abc.abstractmethod
    def name(self):
        """Str, the name of the directory of its exports in `model_dir/export`."""

    @abc.abstractmethod
    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Exports the model, or does not.

        Args:
          estimator: the `Estimator`.
          export_path: str, the directory to export into.
          checkpoint_path: str, the checkpoint that was evaluated.
          eval_result: dict, what `Estimator.evaluate` returned for it.
          is_the_final_export: bool, whether the training has ended.

        Returns:
          The directory of the export, as bytes; None if nothing was exported.
        """


class SavedModelExporter(Exporter):
    """Exports by `Estimator.export_saved_model`, and records it."""

    def __init__(self, name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep):
        if not name or not isinstance(name, str):
            raise UsageError(f"An exporter's name must be a non-empty str, got {name!r}.")
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text
        self._exports_to_keep = checked_exports_to_keep(exports_to_keep)

    @property
    def name(self):
        """Str, the exporter's name."""
        return self._name

    def _export_once(self, estimator, record, checkpoint_path, export_path, eval_result=None):
        """Exports a checkpoint, unless it is the one that was exported last."""
        known = record.export_of(checkpoint_path)
        if known is not None:
            return os.fsencode(known)
        export_dir = estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
        record.add(os.fsdecode(export_dir), checkpoint_path, eval_result)
        record.keep(self._exports_to_keep)
        return export_dir


class FinalExporter(SavedModelExporter):
    """Exports once, when the training has ended.

    Args:
      name: str, the name of the directory in `model_dir/export`.
      serving_input_receiver_fn: callable, as for `Estimator.export_saved_model`.
      assets_extra: dict of path below `assets.extra` to a file to copy there.
      as_text: bool, whether the graph is written as text.

    Raises:
      UsageError: the name is no str, or empty.

    Example:
      >>> receiver_fn = graphtrain.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1])})
      >>> FinalExporter("final", receiver_fn).name
      'final'
    """

    def __init__(self, name, serving_input_receiver_fn, assets_extra=None, as_text=False):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, None)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Exports the final checkpoint; see `Exporter.export`."""
        if not is_the_final_export:
            return None
        return self._export_once(estimator, ExportRecord(export_path), checkpoint_path, export_path)


class LatestExporter(SavedModelExporter):
    """Exports each checkpoint that is evaluated.

    Args:
      name: str, the name of the directory in `model_dir/export`.
      serving_input_receiver_fn: callable, as for `Estimator.export_saved_model`.
      assets_extra: dict of path below `assets.extra` to a file to copy there.
      as_text: bool, whether the graph is written as text.
      exports_to_keep: int >= 1, how many of its newest exports are kept; None keeps all. What
        others put into its directory is never removed.

    Raises:
      UsageError: the name is no str, or empty; or the number of exports is not >= 1.

    Example:
      >>> receiver_fn = graphtrain.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1])})
      >>> LatestExporter("latest", receiver_fn, exports_to_keep=2).name
      'latest'
    """

    def __init__(
        self,
        name,
        serving_input_receiver_fn,
        assets_extra=None,
        as_text=False,
        exports_to_keep=5,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Exports the checkpoint; see `Exporter.export`."""
        return self._export_once(estimator, ExportRecord(export_path), checkpoint_path, export_path)
