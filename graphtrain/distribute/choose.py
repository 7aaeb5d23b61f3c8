"""In which mode a process trains: what the user asked for, as far as the cluster allows it."""

from graphtrain.distribute.all_reduce_mode import AllReduce
from graphtrain.distribute.modes import ALL_REDUCE, PARAMETER_SERVER, OneProcess
from graphtrain.distribute.parameter_servers import ParameterServers
from graphtrain.distribute.tf_config import EVALUATOR
from graphtrain.errors import UsageError


def distribution_of(wanted, cluster):
    """Returns how the processes of a cluster train together.

    Args:
      wanted: "parameter_server", "all_reduce", or None to let the cluster decide.
      cluster: `ClusterSettings`.

    Returns:
      "parameter_server" or "all_reduce"; None for one process, and for an evaluator.

    Raises:
      UsageError: the cluster has not what it needs.

    Example:
      >>> from graphtrain.distribute import tf_config
      >>> distribution_of("all_reduce", tf_config.parse("")) is None
      True
    """
    if not cluster.cluster_spec.jobs or cluster.num_worker_replicas + cluster.num_ps_replicas == 1:
        return None
    by_cluster = PARAMETER_SERVER if cluster.num_ps_replicas else ALL_REDUCE
    if wanted is None or wanted == by_cluster:
        return by_cluster
    if wanted == PARAMETER_SERVER:
        raise UsageError(
            "distribution='parameter_server' needs parameter servers, but the cluster has no ps "
            "tasks: name some, or leave distribution out, which then means 'all_reduce'."
        )
    raise UsageError(
        "distribution='all_reduce' has no use for parameter servers, but the cluster has "
        f"{cluster.num_ps_replicas} ps tasks: leave them out."
    )


def mode_of(config):
    """Returns the mode of a run.

    Args:
      config: `graphtrain.RunConfig` of a process that trains.

    Returns:
      An object with the methods of `graphtrain.distribute.modes.OneProcess`.

    Raises:
      UsageError: it is an evaluator's, or the mode cannot do what the config asks for.
    """
    if config.task_type == EVALUATOR:
        raise UsageError(
            "An evaluator trains nothing: call train_and_evaluate, which evaluates the checkpoints "
            "that the chief saves."
        )
    if config.distribution is None:
        return OneProcess(config)
    if config.distribution == PARAMETER_SERVER:
        return ParameterServers(config)
    return AllReduce(config)
