"""BestExporter: exports a checkpoint that evaluates better than all before it."""

import inspect
import math
import os

import tensorflow as tf

from graphtrain import evaluation_events
from graphtrain.errors import UsageError
from graphtrain.export.exporters import SavedModelExporter
from graphtrain.export.record import ExportRecord

tf1 = tf.compat.v1


def loss_smaller(best_eval_result, current_eval_result):
    """Says whether the current loss is less than the best one; a NaN is worse than any number.

    Args:
      best_eval_result: dict of metrics, with "loss".
      current_eval_result: dict of metrics, with "loss".

    Returns:
      bool.

    Raises:
      UsageError: one of them has no "loss".

    Example:
      >>> loss_smaller({"loss": 0.5}, {"loss": 0.4})
      True
    """
    for name, result in (("best", best_eval_result), ("current", current_eval_result)):
        if not result or "loss" not in result:
            raise UsageError(
                f"{name}_eval_result must have a 'loss' to compare by, got {result!r}."
            )
    best, current = best_eval_result["loss"], current_eval_result["loss"]
    return bool(current < best or (math.isnan(best) and not math.isnan(current)))


class BestExporter(SavedModelExporter):
    """Exports a checkpoint if its evaluation is better than that of every export before.

    The best evaluation is kept in a file beside the exports, so that a restarted run never
    exports a model that is worse than what there is.

    Args:
      name: str, the name of the directory in `model_dir/export`.
      serving_input_receiver_fn: callable, as for `Estimator.export_saved_model`.
      event_file_pattern: str, the event files of earlier evaluations, relative to `model_dir`.
        The best of them counts where there are exports but no such file: those of
        tf.estimator's BestExporter. None: they do not count.
      compare_fn: callable `(best_eval_result, current_eval_result)` of two dicts of metrics that
        says whether the current one is better; by default the lower loss.
      assets_extra: dict of path below `assets.extra` to a file to copy there.
      as_text: bool, whether the graph is written as text.
      exports_to_keep: int >= 1, how many of its exports, the best ones, are kept; None keeps all.
        What others put into its directory is never removed.

    Raises:
      UsageError: the name is no str, or empty; compare_fn has other arguments; or the number of
        exports is not >= 1.

    Example:
      >>> def more_accurate(best_eval_result, current_eval_result):
      ...     return current_eval_result["accuracy"] > best_eval_result["accuracy"]
      >>> receiver_fn = graphtrain.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1])})
      >>> BestExporter("best", receiver_fn, compare_fn=more_accurate).name
      'best'
    """

    def __init__(
        self,
        name="best_exporter",
        serving_input_receiver_fn=None,
        event_file_pattern="eval/*.tfevents.*",
        compare_fn=loss_smaller,
        assets_extra=None,
        as_text=False,
        exports_to_keep=5,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        if serving_input_receiver_fn is None:
            raise UsageError("serving_input_receiver_fn must be given, got None.")
        self._event_file_pattern = event_file_pattern
        self._compare_fn = _checked_compare_fn(compare_fn)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        """Exports the checkpoint if it is the best so far; see `Exporter.export`."""
        record = ExportRecord(export_path)
        best = record.best
        if best is None and _has_exports(export_path):
            step = eval_result.get("global_step", math.inf)
            best = self._best_of_events(estimator.model_dir, before=step)
        if best is not None and not self._compare_fn(
            best_eval_result=best, current_eval_result=eval_result
        ):
            return None
        tf1.logging.info("%s: exporting the best model so far: %s", self.name, eval_result)
        return self._export_once(estimator, record, checkpoint_path, export_path, eval_result)

    def _best_of_events(self, model_dir, *, before):
        if not self._event_file_pattern:
            return None
        pattern = os.path.join(model_dir, self._event_file_pattern)
        best = None
        for step, metrics in evaluation_events.read_metrics(pattern).items():
            if step < before and (
                best is None or self._compare_fn(best_eval_result=best, current_eval_result=metrics)
            ):
                best = metrics
        return best


def _checked_compare_fn(compare_fn):
    wanted = {"best_eval_result", "current_eval_result"}
    if not callable(compare_fn):
        raise UsageError(f"compare_fn must be callable, got {compare_fn!r}.")
    arguments = set(inspect.signature(compare_fn).parameters)
    if arguments != wanted:
        raise UsageError(
            f"compare_fn must have the arguments {sorted(wanted)}, got {sorted(arguments)} of "
            f"{compare_fn!r}."
        )
    return compare_fn


def _has_exports(export_path):
    if not tf.io.gfile.isdir(export_path):
        return False
    return any(name.rstrip("/").isdigit() for name in tf.io.gfile.listdir(export_path))
