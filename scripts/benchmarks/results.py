"""The file of the case `learning`: a line for each finished training, and what they come to."""

import csv
import dataclasses
import os
import typing

import numpy as np

from graphtrain.errors import DataError


class Result(typing.NamedTuple):
    """A finished training: a line of the file.

    Attributes:
      data: the name of the data set.
      model: a name in `training.MODELS`.
      images: how many training images there were.
      batch_size: images in a batch.
      budget_secs: how long it trained.
      clock: "wall", or "cpu" for seconds of the process's work.
      policy: a name in `policies.POLICIES`.
      rate: the learning rate, or "".
      seed: an int.
      steps: how many steps there was time for.
      train_loss: the mean loss over training images.
      test_accuracy: the part of the test images whose class was found.
    """

    data: str
    model: str
    images: int
    batch_size: int
    budget_secs: float
    clock: str
    policy: str
    rate: float | str
    seed: int
    steps: int
    train_loss: float
    test_accuracy: float

    @property
    def key(self):
        """What the training was of: all but what came of it."""
        return self[: self._fields.index("steps")]

    @property
    def problem(self):
        """What was to be learned, in which time."""
        return self[: self._fields.index("policy")]


_NUMBERS = {name: kind for name, kind in Result.__annotations__.items() if kind in (int, float)}


def read(path):
    """Reads the results of a file.

    Args:
      path: the file, which need not be there yet.

    Returns:
      A list of results.

    Raises:
      DataError: it holds something else.
    """
    if _is_new(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    try:
        if tuple(header) != Result._fields:
            raise ValueError(f"its first line is not {','.join(Result._fields)}")
        return [_result(dict(zip(header, line, strict=True))) for line in lines]
    except ValueError as error:
        raise DataError(
            f"{path} holds no results of --case=learning ({error}): give another --csv, or remove "
            "what is wrong"
        ) from error


def append(path, result):
    """Adds a result to a file, which it makes if it is not there."""
    is_new = _is_new(path)
    with open(path, "a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([Result._fields, result] if is_new else [result])


@dataclasses.dataclass(frozen=True)
class Best:
    """The best that a policy came to, over its rates.

    Args:
      rate: the rate that was best, or "".
      mean: the mean over the seeds.
      deviation: their standard deviation.
    """

    rate: float | str
    mean: float
    deviation: float


def best(results, field, choose):
    """Finds the rate at which the mean over the seeds is best.

    Args:
      results: list of results of one policy.
      field: "train_loss" or "test_accuracy".
      choose: `min` or `max`.

    Returns:
      A `Best`.
    """
    by_rate = {}
    for result in results:
        by_rate.setdefault(result.rate, []).append(getattr(result, field))
    found = [Best(rate, np.mean(values), np.std(values)) for rate, values in by_rate.items()]
    # A training that diverged has a loss that is not a number, which compares with none.
    return choose([b for b in found if np.isfinite(b.mean)] or found, key=lambda b: b.mean)


def _is_new(path):
    return not os.path.exists(path) or not os.path.getsize(path)


def _result(texts):
    values = {name: _NUMBERS.get(name, str)(text) for name, text in texts.items()}
    values["rate"] = float(values["rate"]) if values["rate"] else ""
    return Result(**values)
