"""TensorFlow's server of this process, and the session settings that go with it."""

import functools

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.session.error_text import in_one_line

tf1 = tf.compat.v1


def start(cluster_spec, task_type, task_id, *, protocol=None, config=None):
    """Starts the server of this process, or returns the one that it has.

    TensorFlow cannot stop a server: it ends with the process.

    Args:
      cluster_spec: `tf.train.ClusterSpec`.
      task_type: str, this process's job.
      task_id: int, its number within the job.
      protocol: str, None for "grpc".
      config: `tf.compat.v1.ConfigProto`, or None.

    Returns:
      `tf.distribute.Server`.

    Raises:
      UsageError: the address is in use, or is not one of this machine's.

    Example:
      >>> cluster = tf.train.ClusterSpec({"worker": ["localhost:0"]})
      >>> graphtrain.distribute.server.start(cluster, "worker", 0).target[:17]
      'grpc://localhost:'
    """
    serialized = None if config is None else config.SerializeToString(deterministic=True)
    jobs = cluster_spec.as_cluster_def().SerializeToString(deterministic=True)
    return _started(jobs, task_type, task_id, protocol, serialized)


def start_for(run_config, config):
    """Starts the server of a process that trains.

    Args:
      run_config: `graphtrain.RunConfig` of the process.
      config: `tf.compat.v1.ConfigProto` of the server, or None.

    Returns:
      str, the master of its sessions: the server, or what TF_CONFIG names in its place.
    """
    cluster, job, task = run_config.cluster_spec, run_config.task_type, run_config.task_id
    started = start(cluster, job, task, protocol=run_config.protocol, config=config)
    own = "grpc://" + cluster.task_address(job, task)
    return started.target if run_config.master == own else run_config.master


def session_config(config, *, job, task, sees=()):
    """Returns the settings of a session that needs some processes of the cluster only.

    Without such a filter TensorFlow waits, without end, for each process of the cluster.

    Args:
      config: `tf.compat.v1.ConfigProto`, or None; if it has device filters, they stay.
      job: str, the job of this process.
      task: int, its number within the job.
      sees: iterable of str, the devices of others that the session needs, such as "/job:ps".

    Returns:
      A new `ConfigProto`.

    Example:
      >>> config = graphtrain.distribute.server.session_config(
      ...     None, job="worker", task=1, sees=["/job:ps"])
      >>> list(config.device_filters)
      ['/job:ps', '/job:worker/task:1']
    """
    changed = tf1.ConfigProto()
    if config is not None:
        changed.CopyFrom(config)
    if not changed.device_filters:
        changed.device_filters.extend([*sees, f"/job:{job}/task:{task}"])
    return changed


@functools.cache
def _started(jobs, task_type, task_id, protocol, config):
    cluster = tf1.train.ClusterDef.FromString(jobs)
    address = tf.train.ClusterSpec(cluster).task_address(task_type, task_id)
    try:
        return tf.distribute.Server(
            cluster,
            job_name=task_type,
            task_index=task_id,
            protocol=protocol,
            config=None if config is None else tf1.ConfigProto.FromString(config),
        )
    except tf.errors.OpError as error:
        raise UsageError(
            f"{task_type} {task_id} cannot listen at {address} ({in_one_line(error)}): end the "
            "process that uses this port, or give another address of this machine."
        ) from error
