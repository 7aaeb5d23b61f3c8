"""What tf.estimator.experimental offered: early stopping, evaluation while training, and tools."""

from graphtrain.experimental.checkpoint_step import make_stop_at_checkpoint_step_hook
from graphtrain.experimental.early_stopping import make_early_stopping_hook
from graphtrain.experimental.in_memory_evaluator import InMemoryEvaluatorHook
from graphtrain.experimental.logits import call_logit_fn
from graphtrain.experimental.stop_conditions import (
    stop_if_higher_hook,
    stop_if_lower_hook,
    stop_if_no_decrease_hook,
    stop_if_no_increase_hook,
)
from graphtrain.export.supervised import build_raw_supervised_input_receiver_fn

__all__ = [
    "InMemoryEvaluatorHook",
    "build_raw_supervised_input_receiver_fn",
    "call_logit_fn",
    "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook",
    "stop_if_higher_hook",
    "stop_if_lower_hook",
    "stop_if_no_decrease_hook",
    "stop_if_no_increase_hook",
]
