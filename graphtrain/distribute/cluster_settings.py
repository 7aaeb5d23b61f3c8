"""Which process this is of which cluster: one check, whether TF_CONFIG says it or flags do."""

import dataclasses
import difflib
import re

import tensorflow as tf

from graphtrain.errors import UsageError

tf1 = tf.compat.v1

CHIEF, MASTER, WORKER, PS, EVALUATOR = "chief", "master", "worker", "ps", "evaluator"
JOBS = (CHIEF, MASTER, WORKER, PS, EVALUATOR)

_GRPC = "grpc://"
_ADDRESS = re.compile(r"(?P<host>\[[0-9a-fA-F:.%\w]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})")


@dataclasses.dataclass(frozen=True)
class ClusterSettings:
    """Which process of which cluster this is.

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
      has_evaluator: bool, whether the cluster is known to have an evaluator.
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
    has_evaluator: bool = False

    @property
    def worker_tasks(self):
        """Tuple of (job, number) of the processes that train, in their order, the chief first."""
        return tuple(
            (job, index)
            for job in (CHIEF, MASTER, WORKER)
            if job in self.cluster_spec.jobs
            for index in self.cluster_spec.task_indices(job)
        )

    @property
    def worker_addresses(self):
        """Tuple of the addresses of the processes that train, in the order of `worker_tasks`."""
        return tuple(self.cluster_spec.task_address(*task) for task in self.worker_tasks)


@dataclasses.dataclass(frozen=True)
class Words:
    """What the parts of a cluster are called where the user has written them.

    Args:
      cluster: str, the whole.
      job: str with a place for the name of a job.
      task_type: str, this process's job.
      task_id: str, its number.
    """

    cluster: str
    job: str
    task_type: str
    task_id: str


def settings_of(jobs, task_type, task_id, *, words, **others):
    """Returns the settings of one process of a cluster.

    Args:
      jobs: dict from job to the addresses of its tasks: a list, or a dict by number.
      task_type: str, this process's job.
      task_id: int, or its decimals as str.
      words: `Words`, for messages.
      **others: further fields of `ClusterSettings`; `master` takes the place of this process's
        own address.

    Returns:
      `ClusterSettings`. If there is neither a chief nor a master, the first worker is the chief.

    Raises:
      UsageError: there can be no such cluster, or this process is not in it.

    Example:
      >>> words = Words("the cluster", "job {}", "the task's job", "the task's number")
      >>> jobs = {"worker": ["a:1", "b:1"]}
      >>> settings_of(jobs, "worker", 7, words=words)
      Traceback (most recent call last):
      graphtrain.errors.UsageError: the task's number is 7, but "worker" has 2 tasks: give 0 or 1.
    """
    tasks = {job: _tasks(words.job.format(job), job, given) for job, given in jobs.items()}
    # An evaluator is no part of the training, whether the cluster names it or not.
    has_evaluator = tasks.pop(EVALUATOR, None) is not None
    _check_unique(tasks)
    if task_type == EVALUATOR:
        return _evaluator(task_id, words, others)
    chief_job = _chief_job(tasks, words)
    index = _checked_task(task_type, task_id, tasks, words)
    in_order = [
        (job, number)
        for job in dict.fromkeys((chief_job, WORKER, PS))
        for number in sorted(tasks.get(job, ()))
    ]
    workers = [task for task in in_order if task[0] != PS]
    if chief_job == WORKER and len(in_order) > 1:
        tf1.logging.info("the cluster has no chief: worker %d is the chief", workers[0][1])
    own_address = "" if len(in_order) == 1 else _GRPC + tasks[task_type][index]
    return ClusterSettings(
        cluster_spec=tf.train.ClusterSpec(tasks),
        task_type=task_type,
        task_id=index,
        is_chief=(task_type, index) == workers[0],
        num_ps_replicas=len(in_order) - len(workers),
        num_worker_replicas=len(workers),
        global_id_in_cluster=in_order.index((task_type, index)),
        has_evaluator=has_evaluator,
        **{"master": own_address, **others},
    )


def likely(word, allowed):
    """Returns a question whether one of the allowed words was meant, or "".

    Example:
      >>> likely("workers", JOBS)
      'did you mean "worker"? '
    """
    close = difflib.get_close_matches(str(word), allowed, n=1, cutoff=0.75)
    return f'did you mean "{close[0]}"? ' if close else ""


def _tasks(name, job, given):
    """Returns the addresses of a job by the numbers of its tasks."""
    if job not in JOBS:
        raise UsageError(
            f'{name} is no job: {likely(job, JOBS)}Jobs are "chief" (or "master"), "worker", "ps" '
            'and "evaluator".'
        )
    if isinstance(given, dict):
        numbered = {_number(name, key): address for key, address in given.items()}
    elif isinstance(given, (list, tuple)):
        numbered = dict(enumerate(given))
    else:
        raise UsageError(
            f'{name} must be a list of addresses, such as ["10.0.0.1:2222"], or an object from '
            f"numbers to addresses, got {given!r}."
        )
    if not numbered:
        raise UsageError(f"{name} has no address: name one for each task, or leave the job out.")
    for address in numbered.values():
        _check_address(name, address)
    if job in (CHIEF, MASTER) and len(numbered) > 1:
        raise UsageError(
            f"{name} has {len(numbered)} addresses, {_listed(numbered.values())}: there is one "
            f'"{job}" only; the others are workers.'
        )
    return numbered


def _number(name, key):
    if not str(key).isdecimal():
        raise UsageError(f"{name} has the task {key!r}, whose number must be 0 or more.")
    return int(key)


def _check_address(name, address):
    match = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if match is None or not 1 <= int(match["port"]) <= 65535:
        raise UsageError(
            f'{name} has the address {address!r}, which must be "host:port" with a port from 1 to '
            '65535, such as "10.0.0.1:2222".'
        )


def _check_unique(tasks):
    seen = {}
    for job, numbered in tasks.items():
        for number, address in numbered.items():
            if address in seen:
                raise UsageError(
                    f'The address "{address}" is given twice, to {seen[address]} and to {job} '
                    f"{number}: each process needs one of its own."
                )
            seen[address] = f"{job} {number}"


def _chief_job(tasks, words):
    if CHIEF in tasks and MASTER in tasks:
        raise UsageError(f'{words.cluster} has a "chief" and a "master", which mean the same.')
    for job in (CHIEF, MASTER, WORKER):
        if job in tasks:
            return job
    if not tasks:
        raise UsageError(
            f'{words.cluster} is empty: it needs a "chief" or a "worker". For one process leave it '
            "out."
        )
    raise UsageError(f'{words.cluster} must have one "chief", or at least a "worker"; it has none.')


def _evaluator(task_id, words, others):
    if str(task_id) not in ("0", "None"):
        raise UsageError(
            f"{words.task_id} is {task_id!r}, but there can be one evaluator only: give 0."
        )
    return ClusterSettings(
        **{
            **others,
            "task_type": EVALUATOR,
            "is_chief": False,
            "master": "",
            "num_worker_replicas": 0,
            "global_id_in_cluster": None,
            "has_evaluator": True,
        }
    )


def _checked_task(task_type, task_id, tasks, words):
    if task_type not in tasks:
        given = f"is {task_type!r}" if task_type else "is missing"
        raise UsageError(
            f"{words.task_type} {given}, but the cluster has {_quoted(tasks)}: "
            f'{likely(task_type, list(tasks))}Give one of these, or "evaluator".'
        )
    numbers = sorted(tasks[task_type])
    if task_id is None:
        raise UsageError(
            f"{words.task_id} is missing: say which {task_type} this process is, "
            f"{_choice(numbers)}."
        )
    if not str(task_id).isdecimal() or int(task_id) not in numbers:
        count = f"{len(numbers)} task" + ("s" if len(numbers) > 1 else "")
        raise UsageError(
            f'{words.task_id} is {task_id!r}, but "{task_type}" has {count}: give '
            f"{_choice(numbers)}."
        )
    return int(task_id)


def _quoted(jobs):
    return ", ".join(f'"{job}"' for job in jobs)


def _listed(addresses):
    return ", ".join(map(str, addresses))


def _choice(numbers):
    if len(numbers) > 3 and numbers == list(range(len(numbers))):
        return f"0 to {numbers[-1]}"
    return " or ".join(map(str, numbers))
