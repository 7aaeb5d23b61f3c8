"""How often which size of a positive number was seen, in a memory that does not grow."""

import math

import tensorflow as tf

tf1 = tf.compat.v1

_BINS_PER_DOUBLING = 16


class ScaleCounts:
    """Counts positive numbers by their size, in bins 4 % wide; zeros apart.

    Example:
      >>> counts = ScaleCounts()
      >>> for value in (1.0, 1.0, 1.0, 0.125):
      ...     counts.add(value)
      >>> [counts.quantile(part) for part in (0.1, 0.5, 0.9)]
      [0.125, 1.0, 1.0]
    """

    def __init__(self):
        self._bins = {}
        self.total = 0
        self.zeros = 0

    def add(self, value):
        """Counts one number, positive or 0."""
        self.total += 1
        if value > 0:
            place = round(math.log2(value) * _BINS_PER_DOUBLING)
            self._bins[place] = self._bins.get(place, 0) + 1
        else:
            self.zeros += 1

    def quantile(self, part):
        """Returns the size that `part` of the numbers, in [0, 1], do not exceed."""
        passed = self.zeros
        if passed and passed >= part * self.total:
            return 0.0
        for place in sorted(self._bins):
            passed += self._bins[place]
            if passed >= part * self.total:
                return _size(place)
        return 0.0

    def to_proto(self):
        """Returns the counts as the `HistogramProto` that TensorBoard draws."""
        counted = [(0.0, self.zeros)] if self.zeros else []
        counted += [(_size(place), self._bins[place]) for place in sorted(self._bins)]
        proto = tf1.HistogramProto(
            min=counted[0][0],
            max=counted[-1][0],
            num=self.total,
            sum=sum(size * count for size, count in counted),
            sum_squares=sum(size**2 * count for size, count in counted),
        )
        for size, count in counted:
            proto.bucket_limit.append(size * 2 ** (0.5 / _BINS_PER_DOUBLING) or 1e-12)
            proto.bucket.append(count)
        return proto


def _size(place):
    return 2.0 ** (place / _BINS_PER_DOUBLING)
