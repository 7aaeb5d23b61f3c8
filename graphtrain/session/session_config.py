"""How TensorFlow runs a graph: threads, compilation, precision."""

import tensorflow as tf

from graphtrain import checks

tf1 = tf.compat.v1


def session_config(
    *,
    intra_op_threads=None,
    inter_op_threads=None,
    xla=False,
    bfloat16=False,
    optimize_graph=True,
):
    """Returns a `ConfigProto` for `RunConfig.session_config` or a session.

    Args:
      intra_op_threads: int >= 1, threads that one op may use; None leaves it to TensorFlow.
      inter_op_threads: int >= 1, ops that may run at once; None leaves it to TensorFlow.
      xla: whether XLA compiles the parts of the graph that it can.
      bfloat16: whether TensorFlow computes convolutions and products of matrices in bfloat16;
        weights stay float32.
      optimize_graph: whether TensorFlow rewrites the graph before it runs it.

    Returns:
      `tf.compat.v1.ConfigProto`.

    Raises:
      UsageError: a number of threads is no whole number >= 1.

    Example:
      >>> session_config(intra_op_threads=2).intra_op_parallelism_threads
      2
    """
    config = tf1.ConfigProto(allow_soft_placement=True)
    if intra_op_threads is not None:
        config.intra_op_parallelism_threads = checks.whole("intra_op_threads", intra_op_threads)
    if inter_op_threads is not None:
        config.inter_op_parallelism_threads = checks.whole("inter_op_threads", inter_op_threads)
    options = config.graph_options
    if xla:
        options.optimizer_options.global_jit_level = tf1.OptimizerOptions.ON_1
        options.optimizer_options.cpu_global_jit = True
    rewriting = options.rewrite_options
    if bfloat16:
        rewriting.auto_mixed_precision_onednn_bfloat16 = 1  # RewriterConfig.ON has no public name.
    if not optimize_graph:
        rewriting.disable_meta_optimizer = True
    return config
