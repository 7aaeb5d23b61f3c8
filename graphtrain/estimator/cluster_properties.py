"""The properties of a RunConfig that say which process this is."""

import copy

from graphtrain.distribute import choose


class ClusterProperties:
    """Reads of `self._cluster`, a `ClusterSettings`, and of the settings that go with it."""

    @property
    def cluster_spec(self):
        """The `tf.train.ClusterSpec`; empty for one process."""
        return self._cluster.cluster_spec

    @property
    def task_type(self):
        """Str: "chief", "master", "worker", "ps" or "evaluator"."""
        return self._cluster.task_type

    @property
    def task_id(self):
        """Int, the number of this process within its job."""
        return self._cluster.task_id

    @property
    def global_id_in_cluster(self):
        """Int, the number of this process among all; None for an evaluator."""
        return self._cluster.global_id_in_cluster

    @property
    def is_chief(self):
        """Bool, whether this process initializes and saves."""
        return self._cluster.is_chief

    @property
    def master(self):
        """Str, the address of this process's TensorFlow server; "" for an own session."""
        return self._cluster.master

    @property
    def evaluation_master(self):
        """Str, the address for evaluations; "" for an own session."""
        return self._cluster.evaluation_master

    @property
    def num_ps_replicas(self):
        """Int, the number of parameter servers."""
        return self._cluster.num_ps_replicas

    @property
    def num_worker_replicas(self):
        """Int, the number of processes that train, the chief among them."""
        return self._cluster.num_worker_replicas

    @property
    def worker_tasks(self):
        """Tuple of (job, number) of the processes that train, in their order, the chief first."""
        return self._cluster.worker_tasks

    @property
    def worker_addresses(self):
        """Tuple of the addresses of the processes that train, in the order of `worker_tasks`."""
        return self._cluster.worker_addresses

    @property
    def has_evaluator(self):
        """Bool, whether the cluster is known to have an evaluator."""
        return self._cluster.has_evaluator

    @property
    def service(self):
        """A copy of the platform's settings, a dict, or None."""
        return copy.deepcopy(self._cluster.service)

    @property
    def distribution(self):
        """Str, "parameter_server" or "all_reduce"; None for one process."""
        return choose.distribution_of(self._distribution, self._cluster)

    @property
    def start_timeout_secs(self):
        """Number, seconds that a process waits for the others to answer."""
        return self._start_timeout_secs

    @property
    def end_timeout_secs(self):
        """Number, seconds that a process waits for the others at the end."""
        return self._end_timeout_secs

    @property
    def stall_timeout_secs(self):
        """Number, seconds that a worker of a synchronous training waits for the others."""
        return self._stall_timeout_secs
