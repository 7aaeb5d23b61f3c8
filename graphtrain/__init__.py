"""Training of TF1-style TensorFlow graphs on current TensorFlow."""

from graphtrain.errors import DataError, UsageError

__version__ = "0.1.0"

__all__ = ["DataError", "UsageError"]
