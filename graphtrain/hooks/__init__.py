"""Session hooks, one a file; each works in TensorFlow's own MonitoredTrainingSession too."""

from graphtrain.hooks.epoch_report import EpochReportHook
from graphtrain.hooks.line_search import LineSearchHook
from graphtrain.hooks.log_values import LogValuesHook
from graphtrain.hooks.plateau import PlateauHook
from graphtrain.hooks.profile import ProfileHook
from graphtrain.hooks.progress import ProgressHook
from graphtrain.hooks.quiet import QuietHook
from graphtrain.hooks.step_rate import StepRateHook
from graphtrain.hooks.summaries import SummaryHook

__all__ = [
    "EpochReportHook",
    "LineSearchHook",
    "LogValuesHook",
    "PlateauHook",
    "ProfileHook",
    "ProgressHook",
    "QuietHook",
    "StepRateHook",
    "SummaryHook",
]
