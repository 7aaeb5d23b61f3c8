"""Who is done: a queue of small numbers that lives on a parameter server.

A session that is lost or closed does not end it, and no checkpoint holds it.
"""

import tensorflow as tf

from graphtrain.distribute import server

tf1 = tf.compat.v1

_CAPACITY = 10_000
_TIMEOUT_MS = 10_000


class DoneQueue:
    """A queue of ints that all processes can reach, with a session of its own.

    Args:
      master: str, the address of this process's server.
      name: str, by which the processes mean the same queue.
      job: str, the job of this process.
      task: int, its number within the job.
      ps_task: int, the parameter server that holds the queue.

    Example:
      >>> cluster = tf.train.ClusterSpec({"ps": ["localhost:0"]})
      >>> master = server.start(cluster, "ps", 0).target
      >>> queue = DoneQueue(master, "done", job="ps", task=0, ps_task=0)
      >>> queue.put([1, 0])
      >>> queue.take(), queue.take()
      ({0, 1}, set())
    """

    def __init__(self, master, name, *, job, task, ps_task):
        self._master = master
        self._graph = tf.Graph()
        with self._graph.as_default(), tf1.device(f"/job:ps/task:{ps_task}"):
            queue = tf.queue.FIFOQueue(_CAPACITY, tf.int32, [()], shared_name=name, name=name)
            self._numbers = tf1.placeholder(tf.int32, [None], "numbers")
            self._put = queue.enqueue_many([self._numbers])
            self._take = queue.dequeue_many(queue.size())
        # A request to a process that is gone would never end.
        limited = tf1.ConfigProto(operation_timeout_in_ms=_TIMEOUT_MS)
        self._config = server.session_config(
            limited, job=job, task=task, sees=[f"/job:ps/task:{ps_task}"]
        )

    def put(self, numbers):
        """Adds numbers.

        Args:
          numbers: list of int >= 0.

        Raises:
          tf.errors.OpError: the parameter server is gone.
        """
        with self._session() as session:
            session.run(self._put, {self._numbers: numbers})

    def take(self):
        """Takes out and returns all numbers there are, a set of int.

        Raises:
          tf.errors.OpError: the parameter server is gone.
        """
        with self._session() as session:
            return set(session.run(self._take).tolist())

    def _session(self):
        return tf1.Session(self._master, graph=self._graph, config=self._config)
