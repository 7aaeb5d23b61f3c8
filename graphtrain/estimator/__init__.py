"""Train, evaluate, predict and export by a model_fn, as tf.estimator did."""

from graphtrain import experimental, export, inputs
from graphtrain.estimator.add_metrics import add_metrics
from graphtrain.estimator.estimator import Estimator
from graphtrain.estimator.run_config import RunConfig
from graphtrain.estimator.session_hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from graphtrain.estimator.spec import EstimatorSpec, EvalSpec, ModeKeys, TrainSpec
from graphtrain.estimator.train_and_evaluate import train_and_evaluate
from graphtrain.estimator.warm_start import VocabInfo, WarmStartSettings
from graphtrain.export.best_exporter import BestExporter
from graphtrain.export.exporters import Exporter, FinalExporter, LatestExporter

__all__ = [
    "BestExporter",
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "Exporter",
    "FeedFnHook",
    "FinalExporter",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LatestExporter",
    "LoggingTensorHook",
    "ModeKeys",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "ProfilerHook",
    "RunConfig",
    "SecondOrStepTimer",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "TrainSpec",
    "VocabInfo",
    "WarmStartSettings",
    "add_metrics",
    "experimental",
    "export",
    "inputs",
    "train_and_evaluate",
]
