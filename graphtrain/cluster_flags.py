"""absl flags that say which process of which cluster this is, as TF_CONFIG does."""

import os

from absl import flags

from graphtrain._flag_kinds import FlagGroup
from graphtrain.distribute import tf_config
from graphtrain.distribute.cluster_settings import (
    CHIEF,
    EVALUATOR,
    PS,
    WORKER,
    Words,
    settings_of,
)
from graphtrain.distribute.modes import DISTRIBUTIONS
from graphtrain.errors import UsageError

# The script that calls one of the functions owns the flags: its --helpshort shows them.
flags.disclaim_key_flags()

_HOSTS = {f"{job}_hosts": job for job in (CHIEF, WORKER, PS)}
_WHO = ("job_name", "task_index", *_HOSTS)
_SETTINGS = ("distribution", "start_timeout_secs", "end_timeout_secs", "stall_timeout_secs")
_WORDS = Words(
    cluster="The cluster of --worker_hosts, --chief_hosts and --ps_hosts",
    job="--{}_hosts",
    task_type="--job_name",
    task_id="--task_index",
)


def define_cluster_flags(flag_values=flags.FLAGS):
    """Defines which process of which cluster this is, and how the cluster trains.

    Args:
      flag_values: the absl FlagValues to define them on; a second call changes nothing.
    """
    group = FlagGroup(flag_values, first_flag="task_index")
    if group.is_defined:
        return
    jobs = [CHIEF, WORKER, PS, EVALUATOR]
    group.choice("job_name", None, jobs, "this process's job; TF_CONFIG may say it instead")
    group.whole("task_index", None, "this process's number within its job", at_least=0)
    for name, what in (
        ("worker_hosts", "workers, host:port between commas; without a chief the first is it"),
        ("chief_hosts", "the chief, host:port"),
        ("ps_hosts", "parameter servers, host:port between commas"),
    ):
        group.text(name, None, f"addresses of the {what}")
    group.choice(
        "distribution",
        None,
        list(DISTRIBUTIONS),
        "how the processes train: each by itself on parameter servers, or all in step; by default "
        "what the cluster is made for",
    )
    secs = "seconds that a process waits"
    group.real("start_timeout_secs", 300, f"{secs} for the others to answer", at_least=0)
    group.real("end_timeout_secs", 300, f"{secs} at the end for those who stand still", at_least=0)
    group.real("stall_timeout_secs", 600, f"all_reduce: {secs} for the others at a step", above=0)


def cluster_from_flags(flag_values):
    """Builds the settings of the cluster from the flags of `define_cluster_flags`.

    Args:
      flag_values: parsed absl FlagValues.

    Returns:
      `ClusterSettings`; those of TF_CONFIG if no flag names a cluster.

    Raises:
      UsageError: the flags, or TF_CONFIG, make no sense; or both name a cluster.

    >>> values = flags.FlagValues()
    >>> define_cluster_flags(values)
    >>> argv = ["train.py", "--worker_hosts=a:1,b:1", "--ps_hosts=c:1", "--job_name=worker"]
    >>> _ = values([*argv, "--task_index=1"])
    >>> cluster_from_flags(values).master
    'grpc://b:1'
    """
    environment = os.environ.get("TF_CONFIG", "")
    given = [name for name in _WHO if flag_values[name].value is not None]
    if not given:
        return tf_config.parse(environment)
    if environment.strip():
        raise UsageError(
            f"--{given[0]} and the environment variable TF_CONFIG both name a cluster: unset "
            "TF_CONFIG, or leave the flags out."
        )
    jobs = {
        job: [address.strip() for address in flag_values[name].value.split(",")]
        for name, job in _HOSTS.items()
        if flag_values[name].value is not None
    }
    if not jobs and flag_values.job_name != EVALUATOR:
        raise UsageError(
            f"--{given[0]} is of no use without the addresses: give --worker_hosts, and --ps_hosts "
            "for parameter servers."
        )
    return settings_of(jobs, flag_values.job_name, flag_values.task_index, words=_WORDS)


def cluster_settings_from_flags(flag_values):
    """Returns the arguments of a RunConfig that the flags of `define_cluster_flags` give, a dict.

    Args:
      flag_values: parsed absl FlagValues.
    """
    settings = {name: flag_values[name].value for name in _SETTINGS}
    return {"cluster": cluster_from_flags(flag_values), **settings}
