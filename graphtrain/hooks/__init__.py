"""Session hooks, one a file; each works in TensorFlow's own MonitoredTrainingSession too."""

from graphtrain.hooks.epoch_report import EpochReportHook
from graphtrain.hooks.line_search import LineSearchHook
from graphtrain.hooks.progress import ProgressHook

__all__ = ["EpochReportHook", "LineSearchHook", "ProgressHook"]
