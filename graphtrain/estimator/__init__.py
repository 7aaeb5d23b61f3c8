"""Train, evaluate, predict and export by a model_fn, as tf.estimator did."""

from graphtrain import experimental, export, inputs
from graphtrain.estimator.estimator import Estimator
from graphtrain.estimator.run_config import RunConfig
from graphtrain.estimator.spec import EstimatorSpec, EvalSpec, ModeKeys, TrainSpec
from graphtrain.estimator.train_and_evaluate import train_and_evaluate

__all__ = [
    "Estimator",
    "EstimatorSpec",
    "EvalSpec",
    "ModeKeys",
    "RunConfig",
    "TrainSpec",
    "experimental",
    "export",
    "inputs",
    "train_and_evaluate",
]
