"""Labelled images for training and test, checked to be what they should be."""

import dataclasses

import numpy as np

from graphtrain.errors import DataError

IMAGE_SHAPE = (28, 28)
CLASSES = 10


@dataclasses.dataclass(frozen=True)
class ImageData:
    """A data set of grey images of 28 by 28 pixels, in ten classes.

    Args:
      name: what the data set is called.
      train_images: uint8 [n, 28, 28].
      train_labels: int64 [n], each in 0..9.
      test_images: uint8 [m, 28, 28].
      test_labels: int64 [m], each in 0..9.

    Example:
      >>> data = graphtrain.datasets.load("sample")
      >>> len(data.train_images), len(data.test_images)
      (6000, 1000)
    """

    name: str
    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def checked_images(images, source):
    """Checks that an array is a batch of images.

    Args:
      images: the array.
      source: the file that it is from, for the message.

    Returns:
      uint8 [n, 28, 28]: the array, without a last axis of size 1.

    Raises:
      DataError: its dtype or shape is another, or it is empty.

    Example:
      >>> checked_images(np.zeros([5, 28, 28, 1], np.uint8), "digits.npz").shape
      (5, 28, 28)
    """
    if images.dtype != np.uint8:
        raise DataError(f"{source} has images of type {images.dtype}: uint8, 0 to 255, is wanted")
    if images.ndim == 4 and images.shape[-1] == 1:
        images = images[..., 0]
    if images.ndim != 3 or images.shape[1:] != IMAGE_SHAPE:
        raise DataError(f"{source} has images of shape {images.shape}: (n, 28, 28) is wanted")
    if not len(images):
        raise DataError(f"{source} has no images: it is empty")
    return images


def checked_labels(labels, source, *, images, images_source):
    """Checks that an array holds the labels of some images.

    Args:
      labels: the array.
      source: the file that it is from, for the message.
      images: the images, uint8 [n, 28, 28].
      images_source: the file that they are from, for the message.

    Returns:
      int64 [n], each in 0..9.

    Raises:
      DataError: its dtype, shape or length is another, or a label is out of range.

    Example:
      >>> images = np.zeros([2, 28, 28], np.uint8)
      >>> checked_labels(np.array([7, 2]), "labels", images=images, images_source="images")
      array([7, 2])
    """
    if not np.issubdtype(labels.dtype, np.integer):
        raise DataError(f"{source} has labels of type {labels.dtype}: whole numbers are wanted")
    if labels.ndim != 1:
        raise DataError(f"{source} has labels of shape {labels.shape}: (n,) is wanted")
    if len(labels) != len(images):
        raise DataError(
            f"{source} has {len(labels)} labels, and {images_source} has {len(images)} images: "
            "they do not belong together"
        )
    wrong = np.flatnonzero((labels < 0) | (labels >= CLASSES))
    if len(wrong):
        raise DataError(
            f"{source} has a label {labels[wrong[0]]} at position {wrong[0]}: 0 to 9 are wanted"
        )
    return labels.astype(np.int64)


def checked_data(name, arrays, sources):
    """Checks the four arrays of a data set.

    Args:
      name: what the data set is called.
      arrays: training images and labels, test images and labels.
      sources: the file of each array, for messages.

    Returns:
      An `ImageData`.

    Raises:
      DataError: an array is not what it should be.
    """
    checked = []
    for part in (0, 2):
        images = checked_images(arrays[part], sources[part])
        labels = checked_labels(
            arrays[part + 1], sources[part + 1], images=images, images_source=sources[part]
        )
        checked += [images, labels]
    return ImageData(name, *checked)
