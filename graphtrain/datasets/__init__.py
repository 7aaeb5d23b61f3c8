"""Loaders of the data sets that the scripts know, and the embedded sample."""

from graphtrain.datasets.idx import read_idx
from graphtrain.datasets.image_data import ImageData
from graphtrain.datasets.images import read_images
from graphtrain.datasets.input import image_input_fn, steps_per_epoch
from graphtrain.datasets.loading import NAMES, load
from graphtrain.datasets.npz import read_npz

__all__ = [
    "NAMES",
    "ImageData",
    "image_input_fn",
    "load",
    "read_idx",
    "read_images",
    "read_npz",
    "steps_per_epoch",
]
