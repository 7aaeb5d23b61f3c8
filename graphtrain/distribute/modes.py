"""How a process takes part in a training: alone, or as one of a cluster.

`Estimator.train` asks the mode of its run for what differs. Its calls, in their order:

    mode.start()                           # the server of this process
    with mode.building():                  # around all that adds to the graph
        input_fn(mode.input_context())
        model_fn(...)
        mode.check()
        train_op = mode.train_op(train_op)
        with mode.on_this_process(): ...   # what belongs to this session alone
        mode.hooks()
        mode.before_session()              # whenever a session is made, a lost one's included
        ... the loop ...
        mode.after_loop(session)           # the session is open, its hooks have not ended
    mode.end()                             # the session is closed; also if nothing was to do

A mode is made for one run.
"""

import contextlib

import tensorflow as tf

tf1 = tf.compat.v1

PARAMETER_SERVER, ALL_REDUCE = "parameter_server", "all_reduce"
DISTRIBUTIONS = (PARAMETER_SERVER, ALL_REDUCE)


class OneProcess:
    """A training by this process alone; the other modes change what they have to.

    Args:
      config: `graphtrain.RunConfig`.

    Attributes:
      is_chief: bool, whether this process writes checkpoints and event files.
      initializes: bool, whether this process initializes or restores the variables that it
        uses; if not, it waits for the chief to do so.
      others_step: bool, whether other processes raise the global step that this one reads.
      shards_checkpoints: bool, whether each device writes the variables that it holds, for which
        its process needs the directory.
      stop_grace_secs: seconds that threads of the session are given to stop at its end.
      master: str, the address of the server that sessions are made on; "" for an own session.

    Example:
      >>> OneProcess(graphtrain.RunConfig()).input_context().num_input_pipelines
      1
    """

    is_chief = True
    initializes = True
    others_step = False
    shards_checkpoints = True
    stop_grace_secs = 120

    def __init__(self, config):
        self._config = config
        self.master = config.master

    def start(self):
        """Starts what the process needs before its graph is built."""

    def input_context(self):
        """Returns the `tf.distribute.InputContext` for an input_fn that asks for it."""
        return tf.distribute.InputContext(
            num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1
        )

    def building(self):
        """Returns the context manager in which the default graph is built."""
        return tf1.device(self._config.device_fn) if self._config.device_fn else _nothing()

    def on_this_process(self):
        """Returns the context manager that places ops, variables too, on this process."""
        return _nothing()

    def check(self):
        """Refuses a default graph, its model built, that cannot be trained in this mode.

        Raises:
          UsageError: it says why, and what can be done.
        """

    def train_op(self, train_op):
        """Returns the op of a training step in this mode.

        Args:
          train_op: op of the default graph, the model's.
        """
        return train_op

    def session_config(self, config):
        """Returns the `ConfigProto` of the training session.

        Args:
          config: `tf.compat.v1.ConfigProto`, the user's or the default.
        """
        return config

    def hooks(self):
        """Returns the session hooks that the mode needs in this process."""
        return []

    def before_session(self):
        """Waits for whatever must be there before a session can be made.

        Raises:
          UsageError: it is not there in time.
        """

    def after_loop(self, session):
        """Called once the loop of this process has ended, before its last checkpoint.

        Args:
          session: the open `MonitoredSession`.
        """

    def why_empty(self):
        """Returns whose input it is that has ended before the first step."""
        config = self._config
        return (
            f"that of worker {config.global_id_in_cluster} of {config.num_worker_replicas}: if "
            "each worker reads a shard of the data, there must be a file, or a batch, for each"
        )

    def end(self):
        """Called when the session is closed, or if there was nothing to train."""


_nothing = contextlib.nullcontext
