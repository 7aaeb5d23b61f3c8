"""Which kind of loops and conditionals TensorFlow builds."""

import contextlib

import tensorflow as tf

tf1 = tf.compat.v1


@contextlib.contextmanager
def control_flow_v2(enabled):
    """Builds loops and conditionals in the given way, whatever the process does elsewhere.

    A v2 loop nests in every other construct; but it cannot write a ref variable.
    """
    before = tf1.control_flow_v2_enabled()
    (tf1.enable_control_flow_v2 if enabled else tf1.disable_control_flow_v2)()
    try:
        yield
    finally:
        (tf1.enable_control_flow_v2 if before else tf1.disable_control_flow_v2)()
