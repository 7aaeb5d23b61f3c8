"""Which variable is on which parameter server: by bytes, so that each holds about as much."""

import math

import tensorflow as tf

tf1 = tf.compat.v1

# A smaller part is not worth the requests of its own.
LEAST_PART_BYTES = 16 * 2**20


class BalancedByBytes:
    """Chooses the parameter server that has the fewest bytes so far, a `ps_strategy`.

    Each process builds the same variables in the same order, and so comes to the same choice.

    Args:
      num_ps: int >= 1, how many parameter servers there are.

    Example:
      >>> choose = BalancedByBytes(2)
      >>> with tf1.device(tf1.train.replica_device_setter(ps_tasks=2, ps_strategy=choose)):
      ...     sized = [tf1.get_variable(f"v{n}", [size]) for n, size in enumerate([3, 2, 1, 1])]
      >>> [variable.device for variable in sized]
      ['/job:ps/task:0', '/job:ps/task:1', '/job:ps/task:1', '/job:ps/task:0']
    """

    def __init__(self, num_ps):
        self._bytes = [0] * num_ps

    def __call__(self, op):
        """Returns the number of the parameter server for an op.

        Args:
          op: the `tf.Operation` of a variable, or of a table.
        """
        task = tf.DeviceSpec.from_string(op.device).task if op.device else None
        if task is None:
            task = self._bytes.index(min(self._bytes))
        self._bytes[task] += _bytes_of(op)
        return task


def parts_by_bytes(num_ps, *, least_part_bytes=LEAST_PART_BYTES):
    """Returns a `custom_getter` of variable scopes that splits large variables by rows.

    Trainable variables of known shape are split into at most as many parts as there are
    parameter servers, each of `least_part_bytes` or more; what has a partitioner already keeps
    it.

    Args:
      num_ps: int >= 1; one splits nothing.
      least_part_bytes: int >= 1.

    Returns:
      A function for `tf.compat.v1.variable_scope(custom_getter=...)`.

    Example:
      >>> with tf1.variable_scope("", custom_getter=parts_by_bytes(2, least_part_bytes=40)):
      ...     table = tf1.get_variable("table", [5, 4])
      ...     bias = tf1.get_variable("bias", [4])
      >>> [part.shape.as_list() for part in table], bias.shape.as_list()
      ([[3, 4], [2, 4]], [4])
    """

    def split(getter, name, *args, **kwargs):
        if kwargs.get("partitioner") is None and kwargs.get("trainable") is not False:
            shape = tf.TensorShape(_shape(kwargs))
            size = _size(shape, kwargs.get("dtype") or tf.float32)
            parts = min(num_ps, int(size // least_part_bytes), (shape.rank and shape[0]) or 1)
            if parts > 1:
                kwargs["partitioner"] = tf1.fixed_size_partitioner(parts)
        return getter(name, *args, **kwargs)

    return split


def _shape(kwargs):
    initializer = kwargs.get("initializer")
    is_value = initializer is not None and not callable(initializer)
    return tf.convert_to_tensor(initializer).shape if is_value else kwargs.get("shape")


def _bytes_of(op):
    if "shape" not in op.node_def.attr or "dtype" not in op.node_def.attr:
        return 0
    return _size(tf.TensorShape(op.get_attr("shape")), op.get_attr("dtype"))


def _size(shape, dtype):
    if not shape.is_fully_defined():
        return 0
    dtype = tf.as_dtype(dtype)
    size = 1 if dtype in (tf.string, tf.resource, tf.variant) else dtype.base_dtype.size
    return math.prod(shape.as_list()) * size
