"""Makers of input_fns from data in memory."""

from graphtrain.inputs.numpy_io import numpy_input_fn
from graphtrain.inputs.pandas_io import pandas_input_fn

__all__ = ["numpy_input_fn", "pandas_input_fn"]
