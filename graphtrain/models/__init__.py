"""Models to start from: layers, networks and model_fns."""

from graphtrain.models.cnn import cnn_logits, cnn_model_fn
from graphtrain.models.mlp import mlp_logits, mlp_model_fn

__all__ = ["cnn_logits", "cnn_model_fn", "mlp_logits", "mlp_model_fn"]
