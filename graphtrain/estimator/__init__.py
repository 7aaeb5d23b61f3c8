"""Train, evaluate, predict and export by a model_fn, as tf.estimator did."""

from graphtrain import export
from graphtrain.estimator.run_config import RunConfig
from graphtrain.estimator.spec import EstimatorSpec, EvalSpec, ModeKeys, TrainSpec

__all__ = ["EstimatorSpec", "EvalSpec", "ModeKeys", "RunConfig", "TrainSpec", "export"]
