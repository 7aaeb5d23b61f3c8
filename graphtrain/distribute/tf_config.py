"""TF_CONFIG: which process this is of which cluster, as tf.estimator read it."""

import dataclasses
import json

import tensorflow as tf

from graphtrain.errors import UsageError

CHIEF, MASTER, WORKER, PS, EVALUATOR = "chief", "master", "worker", "ps", "evaluator"
_GRPC = "grpc://"


@dataclasses.dataclass(frozen=True)
class ClusterSettings:
    """What TF_CONFIG says.

    Attributes:
      cluster_spec: `tf.train.ClusterSpec` of the training; empty for one process, and for an
        evaluator, which is no part of it.
      task_type: str, this process's job.
      task_id: int, its number within the job.
      is_chief: bool, whether this process initializes and saves.
      master: str, the address of its TensorFlow server; "" for an own session.
      evaluation_master: str, the address for evaluations; "" for an own session.
      num_ps_replicas: int, the number of parameter servers.
      num_worker_replicas: int, the number of processes that train, the chief among them.
      global_id_in_cluster: int, its number among all processes, the chief first and the
        parameter servers last; None for an evaluator.
      service: dict of settings of the platform, or None.
      model_dir: str, the directory that the platform chose, or None.
    """

    cluster_spec: tf.train.ClusterSpec = dataclasses.field(
        default_factory=lambda: tf.train.ClusterSpec({})
    )
    task_type: str = WORKER
    task_id: int = 0
    is_chief: bool = True
    master: str = ""
    evaluation_master: str = ""
    num_ps_replicas: int = 0
    num_worker_replicas: int = 1
    global_id_in_cluster: int | None = 0
    service: dict | None = None
    model_dir: str | None = None


def parse(text):
    """Returns what the text of TF_CONFIG says.

    Args:
      text: str, JSON; empty for one process. If the cluster has neither a chief nor a master,
        worker 0 is the chief.

    Returns:
      `ClusterSettings`.

    Raises:
      UsageError: it is no such JSON, or the task is not one of the cluster's.

    Example:
      >>> cluster = '{"chief": ["a:1"], "ps": ["b:1"]}'
      >>> settings = parse('{"cluster": %s, "task": {"type": "ps", "index": 0}}' % cluster)
      >>> settings.master, settings.is_chief, settings.global_id_in_cluster
      ('grpc://b:1', False, 1)
    """
    config = _object("TF_CONFIG", _json(text)) if text.strip() else {}
    task = _object('"task" of TF_CONFIG', config.get("task", {}))
    jobs = dict(_object('"cluster" of TF_CONFIG', config.get("cluster", {})))
    service = config.get("service")
    common = {
        "service": None if service is None else _object('"service" of TF_CONFIG', service),
        "model_dir": _model_dir(config.get("model_dir")),
    }
    # An evaluator is no part of the training, whether the cluster names it or not.
    jobs.pop(EVALUATOR, None)
    if not jobs and "cluster" not in config:
        return _local(task, config.get("session_master", ""), common)
    task_type, task_id = _task(task)
    if task_type == EVALUATOR:
        return ClusterSettings(
            task_type=EVALUATOR,
            task_id=task_id,
            is_chief=False,
            num_worker_replicas=0,
            global_id_in_cluster=None,
            **common,
        )
    return _distributed(_cluster_spec(jobs), task_type, task_id, config, common)


def _json(text):
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"TF_CONFIG is not valid JSON ({error}): {text!r}.") from error


def _object(name, value):
    if not isinstance(value, dict):
        raise UsageError(f"{name} must be a JSON object, got {value!r}.")
    return value


def _model_dir(value):
    if value is not None and not (isinstance(value, str) and value):
        raise UsageError(f'"model_dir" of TF_CONFIG must name a directory, got {value!r}.')
    return value


def _local(task, master, common):
    task_type, task_id = task.get("type", WORKER), task.get("index", 0)
    if (task_type, str(task_id)) != (WORKER, "0"):
        raise UsageError(
            'TF_CONFIG has no "cluster", so the task must be worker 0, got '
            f"{task_type!r} {task_id!r}."
        )
    return ClusterSettings(master=master, **common)


def _task(task):
    task_type, task_id = task.get("type"), task.get("index")
    if not task_type:
        raise UsageError('TF_CONFIG has a "cluster", so "task" must have a "type".')
    if not str(task_id).isdecimal():
        raise UsageError(
            'TF_CONFIG has a "cluster", so "index" of "task" must be a number >= 0, got '
            f"{task_id!r}."
        )
    return task_type, int(task_id)


def _cluster_spec(jobs):
    try:
        return tf.train.ClusterSpec(jobs)
    except (TypeError, ValueError) as error:
        raise UsageError(
            '"cluster" of TF_CONFIG must map each job to a list of addresses, such as '
            f'"host:2222", got {jobs!r}.'
        ) from error


def _distributed(cluster, task_type, task_id, config, common):
    if task_type not in cluster.jobs or task_id not in cluster.task_indices(task_type):
        tasks = {job: cluster.task_indices(job) for job in cluster.jobs}
        raise UsageError(
            f"The task of TF_CONFIG, {task_type!r} {task_id}, is not in its cluster, which has "
            f"{tasks}."
        )
    chief_job = next((job for job in (CHIEF, MASTER, WORKER) if job in cluster.jobs), None)
    if chief_job is None or (chief_job != WORKER and cluster.num_tasks(chief_job) > 1):
        raise UsageError(
            f'"cluster" of TF_CONFIG must have one "{CHIEF}", or at least a "{WORKER}", got '
            f"{cluster.as_dict()}."
        )
    others = sorted(set(cluster.jobs) - {chief_job, PS})
    in_order = [
        (job, index)
        for job in (chief_job, *others, PS)
        if job in cluster.jobs
        for index in cluster.task_indices(job)
    ]
    is_alone = len(in_order) == 1
    own_master = "" if is_alone else _GRPC + cluster.task_address(task_type, task_id)
    workers = [task for task in in_order if task[0] in (chief_job, WORKER)]
    return ClusterSettings(
        cluster_spec=cluster,
        task_type=task_type,
        task_id=task_id,
        is_chief=(task_type, task_id) == workers[0],
        master=config.get("session_master", own_master),
        evaluation_master=config.get("eval_session_master", ""),
        num_ps_replicas=sum(job == PS for job, _ in in_order),
        num_worker_replicas=len(workers),
        global_id_in_cluster=in_order.index((task_type, task_id)),
        **common,
    )
