"""Synchronous training: each worker holds all weights, and all make each step together."""

import contextlib

import tensorflow as tf

from graphtrain.distribute import agreement, all_reduce, modes, peers, server
from graphtrain.errors import UsageError
from graphtrain.optimize import over_workers

tf1 = tf.compat.v1


class AllReduce(modes.OneProcess):
    """A worker, the chief among them, of a training without parameter servers.

    Args:
      config: `graphtrain.RunConfig`.

    Raises:
      UsageError: the config asks for several steps in a run.
    """

    def __init__(self, config):
        super().__init__(config)
        if config.steps_per_run != 1:
            raise UsageError(
                f"steps_per_run={config.steps_per_run!r} cannot be had with "
                "distribution='all_reduce': the hooks of each worker end its runs at steps of "
                "their own, and the workers would wait for each other. Leave it at 1."
            )
        self.is_chief = config.is_chief
        self._job, self._task = config.task_type, config.task_id
        self._leader = "/job:{}/replica:0/task:{}".format(*config.worker_tasks[0])
        self._group = all_reduce.WorkerGroup(
            config.num_worker_replicas,
            config.global_id_in_cluster,
            stall_timeout_secs=config.stall_timeout_secs,
            addresses=config.worker_addresses,
        )

    def start(self):
        """Starts TensorFlow's server."""
        config = self.session_config(self._config.session_config)
        self.master = server.start_for(self._config, config)

    def input_context(self):
        """Returns which shard of the input is this worker's."""
        return tf.distribute.InputContext(
            num_input_pipelines=self._group.count,
            input_pipeline_id=self._group.index,
            num_replicas_in_sync=self._group.count,
        )

    @contextlib.contextmanager
    def building(self):
        """Makes the default graph one whose steps all workers make together."""
        with super().building():
            all_reduce.use(self._group)
            agreement.of_default_graph()
            yield

    def check(self):
        """Refuses a model whose workers would go their own ways."""
        if not over_workers.averages_gradients(tf1.get_default_graph()):
            raise UsageError(
                "The optimizer steps by the gradients of one worker, and there are "
                f"{self._group.count}: wrap it, graphtrain.AllReduceOptimizer(optimizer), or use "
                "graphtrain.LineSearchOptimizer(optimizer), which takes their mean too."
            )

    def session_config(self, config):
        """Returns the settings of a session that has collectives with the other workers."""
        config = server.session_config(config, job=self._job, task=self._task)
        config.experimental.collective_group_leader = self._leader
        return config

    def before_session(self):
        """Waits for the other workers."""
        others = self._group.other_addresses
        peers.wait(others, timeout_secs=self._config.start_timeout_secs)

    def why_empty(self):
        """Returns whose input it is that has ended before the first step."""
        if agreement.of_default_graph().had_batch_left:
            return "that of another worker, whose log tells which shard it reads"
        return super().why_empty()
