"""Training of TF1-style TensorFlow graphs on current TensorFlow."""

from graphtrain.errors import DataError, UsageError, WorkerLostError
from graphtrain.estimator.add_metrics import add_metrics
from graphtrain.estimator.estimator import Estimator
from graphtrain.estimator.run_config import RunConfig
from graphtrain.estimator.spec import EstimatorSpec, EvalSpec, ModeKeys, TrainSpec
from graphtrain.estimator.train_and_evaluate import train_and_evaluate
from graphtrain.estimator.warm_start import VocabInfo, WarmStartSettings
from graphtrain.export.best_exporter import BestExporter
from graphtrain.export.exporters import Exporter, FinalExporter, LatestExporter
from graphtrain.optimize.all_reduce_optimizer import AllReduceOptimizer
from graphtrain.optimize.gradient_accumulation import GradientAccumulationOptimizer
from graphtrain.optimize.line_search import LineSearchOptimizer
from graphtrain.optimize.moving_average import MovingAverageOptimizer
from graphtrain.optimize.rate_scale import learning_rate_scale
from graphtrain.optimize.rate_step import learning_rate_step
from graphtrain.session.averages import averages_scaffold
from graphtrain.session.inputs import declare_iterator
from graphtrain.session.monitored import MonitoredTrainingSession
from graphtrain.session.safety import SafetyConfig
from graphtrain.session.signals import saving_on_signals

__version__ = "0.1.0"

__all__ = [
    "AllReduceOptimizer",
    "BestExporter",
    "DataError",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FinalExporter",
    "GradientAccumulationOptimizer",
    "LatestExporter",
    "LineSearchOptimizer",
    "ModeKeys",
    "MonitoredTrainingSession",
    "MovingAverageOptimizer",
    "RunConfig",
    "SafetyConfig",
    "TrainSpec",
    "UsageError",
    "averages_scaffold",
    "VocabInfo",
    "WarmStartSettings",
    "WorkerLostError",
    "add_metrics",
    "declare_iterator",
    "learning_rate_scale",
    "learning_rate_step",
    "saving_on_signals",
    "train_and_evaluate",
]
