"""Sums over the workers of a synchronous training, by TensorFlow's own collectives.

Each worker has a graph and variables of its own. What goes between them are sums: of gradients,
of losses, and of wishes to stop. Every worker builds the same sums in the same order and runs the
same of them in each `session.run`, so that they meet.
"""

import dataclasses
import zlib

import numpy as np
import tensorflow as tf

from graphtrain import checks

tf1 = tf.compat.v1

_GROUPS = "graphtrain_worker_groups"
_KEYS, _SUMS = "graphtrain_collective_keys", "graphtrain_sums_over_workers"
_GROUP_KEY = 1
# Copying a small tensor next to others is cheaper than a collective of its own; a large one not.
PACKED_BYTES = 4_000_000
_SUMMED_AS = {tf.bfloat16: tf.float32, tf.float16: tf.float32}


@dataclasses.dataclass(frozen=True)
class WorkerGroup:
    """The workers of a synchronous training, and this one's place among them.

    Args:
      count: int >= 1, how many there are.
      index: int in [0, count), which one this is; 0 is the chief.
      stall_timeout_secs: seconds > 0 that a worker waits for the others in a sum.
      addresses: tuple of str, where the workers are, "host:port"; empty if it is not known.

    Raises:
      UsageError: a value is out of range.

    Example:
      >>> WorkerGroup(2, 0).is_chief
      True
    """

    count: int
    index: int
    stall_timeout_secs: float = 600.0
    addresses: tuple = ()

    def __post_init__(self):
        checks.whole("count", self.count)
        checks.whole("index", self.index, at_least=0)
        checks.real("index", self.index, below=self.count)
        checks.real("stall_timeout_secs", self.stall_timeout_secs, above=0)

    @property
    def is_chief(self):
        """Whether this worker initializes, restores and saves."""
        return self.index == 0

    @property
    def other_addresses(self):
        """The addresses of the other workers, a list of str."""
        return [address for index, address in enumerate(self.addresses) if index != self.index]

    @property
    def name(self):
        """A name in the graph: by it TensorFlow writes the collection into a MetaGraph."""
        return f"worker_{self.index}_of_{self.count}"

    def sum(self, tensor):
        """Returns the sum of a tensor over all workers, of its shape and dtype.

        Args:
          tensor: numeric tensor of the same shape on each worker.
        """
        return self._reduce(tensor, "Id")

    def mean(self, tensor):
        """Returns the mean of a tensor over all workers, of its shape and dtype.

        Args:
          tensor: float tensor of the same shape on each worker.
        """
        dtype = _SUMMED_AS.get(tensor.dtype, tensor.dtype)
        return tf.cast(self._reduce(tf.cast(tensor, dtype), "Div"), tensor.dtype)

    def means(self, tensors):
        """Returns the means of tensors over all workers, in few collectives.

        Small tensors of one dtype are sent as one; a large one is sent as it is.

        Args:
          tensors: list of float tensors, of the same shapes on each worker.
        """
        found = {}
        for indices in _packs(tensors):
            if len(indices) == 1:
                found[indices[0]] = self.mean(tensors[indices[0]])
                continue
            parts = [tensors[index] for index in indices]
            pack = self.mean(tf.concat([tf.reshape(part, [-1]) for part in parts], axis=0))
            split = tf.split(pack, [tf.size(part) for part in parts], num=len(parts))
            for index, part, mean in zip(indices, parts, split, strict=True):
                found[index] = tf.ensure_shape(tf.reshape(mean, tf.shape(part)), part.shape)
        return [found[index] for index in range(len(tensors))]

    def means_of_rows(self, slices):
        """Returns the means over all workers of sparse tensors, as sparse ones.

        Each has the rows of all workers, one after the other; what a worker does not have counts
        as zero in the mean.

        Args:
          slices: list of `tf.IndexedSlices`, of n rows each; n may differ from worker to worker.
        """
        if not slices:
            return []
        counts = tf.stack([tf.size(part.indices) for part in slices])
        most = _rounded_up(self._reduce(counts, "Id", merge_op="Max"))
        most = tf.unstack(most, num=len(slices))
        return [self._mean_of_rows(part, rows) for part, rows in zip(slices, most, strict=True)]

    def _mean_of_rows(self, part, most):
        """The rows of each worker at a place of its own, and then all places added up."""
        after = most * (self.count - self.index) - tf.size(part.indices)
        at_own_place = [most * self.index, after]
        # Where nobody's rows are the sum is 0, so rows are counted from 1.
        numbers = self.sum(tf.pad(part.indices + 1, [at_own_place]))
        rest = [[0, 0]] * (part.values.shape.rank - 1)
        values = self.mean(tf.pad(part.values, [at_own_place, *rest]))
        there = tf.where(numbers > 0)[:, 0]
        return tf.IndexedSlices(
            tf.gather(values, there), tf.gather(numbers, there) - 1, part.dense_shape
        )

    def from_chief(self, tensor):
        """Returns the chief's value of a tensor.

        Args:
          tensor: tensor of a static shape, the same on each worker.
        """
        common = {
            "group_size": self.count,
            "group_key": _GROUP_KEY,
            "instance_key": _next_key("from_chief", tensor),
            "timeout_seconds": float(self.stall_timeout_secs),
        }
        if self.is_chief:
            return tf.raw_ops.CollectiveBcastSend(input=tensor, shape=tensor.shape, **common)
        return tf.raw_ops.CollectiveBcastRecv(T=tensor.dtype, shape=tensor.shape, **common)

    def _reduce(self, tensor, final_op, *, merge_op="Add"):
        key = _next_key(f"{merge_op} {final_op}", tensor)
        _outermost_graph().add_to_collection(_SUMS, key)
        common = {
            "group_size": self.count,
            "group_key": _GROUP_KEY,
            "merge_op": merge_op,
            "final_op": final_op,
            "timeout_seconds": float(self.stall_timeout_secs),
        }
        if tensor.shape.is_fully_defined():
            return tf.raw_ops.CollectiveReduce(
                input=tensor, instance_key=key, subdiv_offsets=[0], **common
            )
        # A number stands for one shape, so each size has one of its own.
        flat = tf.reshape(tensor, [-1])
        total = tf.raw_ops.CollectiveReduceV2(
            input=flat,
            instance_key=key // 2 + tf.size(flat) % 2**29,
            ordering_token=[],
            **common,
        )
        return tf.ensure_shape(tf.reshape(total, tf.shape(tensor)), tensor.shape)


def use(group):
    """Makes the default graph one of a synchronous training.

    Args:
      group: `WorkerGroup`.

    Returns:
      `group`.
    """
    _outermost_graph().add_to_collection(_GROUPS, group)
    return group


def of_default_graph():
    """Returns the `WorkerGroup` of the default graph, or None if it trains alone.

    Example:
      >>> print(of_default_graph())
      None
    """
    groups = _outermost_graph().get_collection(_GROUPS)
    return groups[-1] if groups else None


def sums_in(graph):
    """Returns how many sums over the workers a graph has, those in the bodies of loops included.

    Args:
      graph: `tf.Graph`.
    """
    return len(graph.get_collection(_SUMS))


def _outermost_graph():
    # A loop's body is a graph of its own.
    with tf.init_scope():
        return tf1.get_default_graph()


def _next_key(what, tensor):
    """Returns the number by which the workers find each other's part of a collective.

    TensorFlow's server remembers what a number stood for, as long as the process lives. So it is
    another number in another graph if it stands for something else there.
    """
    graph = _outermost_graph()
    place = len(graph.get_collection(_KEYS))
    key = zlib.crc32(f"{place} {what} {tensor.dtype.name} {tensor.shape}".encode()) >> 1
    graph.add_to_collection(_KEYS, key)
    return key


def _rounded_up(counts):
    """Returns counts that are up to an eighth greater, so that few different ones come up."""
    digits = tf.math.log(tf.maximum(tf.cast(counts, tf.float64), 1)) / np.log(2)
    unit = 2 ** tf.maximum(tf.cast(digits, tf.int32) - 3, 0)
    return (counts + unit - 1) // unit * unit


def _packs(tensors):
    """Lists the indices of the tensors that are sent together."""
    packs, open_packs = [], {}
    for index, tensor in enumerate(tensors):
        size = tensor.shape.num_elements()
        if size is None or size * tensor.dtype.size > PACKED_BYTES:
            packs.append([index])
        elif tensor.dtype in open_packs:
            open_packs[tensor.dtype].append(index)
        else:
            open_packs[tensor.dtype] = [index]
            packs.append(open_packs[tensor.dtype])
    return packs
