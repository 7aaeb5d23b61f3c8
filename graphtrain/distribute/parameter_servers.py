"""Asynchronous training: the variables are on parameter servers, each worker steps by itself."""

import contextlib

import tensorflow as tf

from graphtrain.distribute import ending, modes, peers, placement, server
from graphtrain.distribute.chief_watch import ChiefWatchHook
from graphtrain.distribute.cluster_settings import PS
from graphtrain.distribute.done_queue import DoneQueue
from graphtrain.errors import UsageError
from graphtrain.optimize.line_search import SEARCH_SECS
from graphtrain.session import checkpoints, signals
from graphtrain.session.error_text import in_one_line

tf1 = tf.compat.v1

WORKERS_DONE, TRAINING_DONE = "graphtrain_workers_done", "graphtrain_training_done"


class ParameterServers(modes.OneProcess):
    """A worker, the chief among them, of a training with parameter servers.

    Args:
      config: `graphtrain.RunConfig`.

    Attributes:
      name: str, the job and number of this process.
    """

    others_step = True
    shards_checkpoints = False
    # The thread of a SyncReplicasOptimizer waits for gradients that nobody sends any more.
    stop_grace_secs = 5

    def __init__(self, config):
        super().__init__(config)
        self.is_chief = self.initializes = config.is_chief
        self.name = f"{config.task_type} {config.task_id}"
        self._model_dir = config.model_dir
        self._cluster = cluster = config.cluster_spec
        workers = dict(enumerate(config.worker_addresses))
        self._number = config.global_id_in_cluster
        self._address = workers[self._number]
        self._chief = workers[0]
        self._other_workers = {n: a for n, a in workers.items() if n != self._number}
        self._ps = {task: cluster.task_address(PS, task) for task in cluster.task_indices(PS)}
        self._has_begun = False
        self._device = f"/job:{config.task_type}/task:{config.task_id}"

    def start(self):
        """Starts TensorFlow's server."""
        self.master = server.start_for(self._config, self._config.session_config)

    def input_context(self):
        """Returns which shard of the input is this worker's."""
        return tf.distribute.InputContext(
            num_input_pipelines=self._config.num_worker_replicas,
            input_pipeline_id=self._config.global_id_in_cluster,
            num_replicas_in_sync=1,
        )

    @contextlib.contextmanager
    def building(self):
        """Places variables on the parameter servers, all else on this process."""
        num_ps = self._config.num_ps_replicas
        setter = self._config.device_fn or tf1.train.replica_device_setter(
            worker_device=self._device,
            cluster=self._cluster,
            ps_strategy=placement.BalancedByBytes(num_ps),
        )
        with contextlib.ExitStack() as stack:
            stack.enter_context(tf1.device(setter))
            stack.enter_context(tf1.variable_creator_scope(self._create_variable))
            if num_ps > 1:
                scope = tf1.variable_scope(
                    tf1.get_variable_scope(),
                    custom_getter=placement.parts_by_bytes(num_ps),
                    auxiliary_name_scope=False,
                )
                stack.enter_context(scope)
            yield

    def _create_variable(self, next_creator, **kwargs):
        if tf1.GraphKeys.LOCAL_VARIABLES in (kwargs.get("collections") or ()):
            with self.on_this_process():
                return next_creator(**kwargs)
        return next_creator(**kwargs)

    def on_this_process(self):
        """Places ops, variables too, on this process."""
        return tf1.device(self._device)

    def check(self):
        """Refuses what cannot be had while other workers move the weights."""
        if tf1.get_collection(SEARCH_SECS):
            raise UsageError(
                "A line search cannot be had with parameter servers: another worker moves the "
                "weights between two trials, so that their losses cannot be compared. Use "
                "distribution='all_reduce' and no ps tasks, or an optimizer without the search."
            )
        if self._config.safety.on_not_finite == "skip_step":
            raise UsageError(
                "on_not_finite='skip_step' cannot be had with parameter servers: to undo a step "
                "would undo what other workers did meanwhile. Use 'raise' or 'roll_back', or "
                "distribution='all_reduce' and no ps tasks."
            )

    def session_config(self, config):
        """Returns the settings of a session that needs the parameter servers and this process."""
        return server.session_config(
            config,
            job=self._config.task_type,
            task=self._config.task_id,
            sees=[f"/job:{PS}"],
        )

    def hooks(self):
        """Returns the hook that looks after the chief; in the chief, one that knows its threads."""
        if self.is_chief:
            self._threads = _ThreadsHook()
            return [self._threads]
        return [ChiefWatchHook(self._chief, timeout_secs=self._config.end_timeout_secs)]

    def before_session(self):
        """Waits for the parameter servers and the chief; a chief that begins, for all."""
        needed = [*self._ps.values(), self._chief]
        is_first, self._has_begun = not self._has_begun, True
        if self.is_chief and is_first:
            tf1.logging.info("%s is the chief: it alone writes to %s", self.name, self._model_dir)
            if checkpoints.newest(self._model_dir) is None:
                needed += self._other_workers.values()
        elif is_first:
            tf1.logging.info("%s writes no checkpoint: the chief does, %s", self.name, self._chief)
        own = self._address
        peers.wait(
            [address for address in dict.fromkeys(needed) if address != own],
            timeout_secs=self._config.start_timeout_secs,
        )
        if self.is_chief and is_first:
            # What was said at the end of an earlier training.
            self._inbox().take()

    def after_loop(self, session):
        """Waits, in the chief, for the other workers, and goes on saving meanwhile."""
        if not self.is_chief or signals.requested_stop() is not None:
            return
        # Those of a SyncReplicasOptimizer close the queue that the others may wait at.
        self._threads.stop()
        step = tf1.train.get_global_step(session.graph)

        def look_at_step():
            step_now = int(session.run_without_hooks(step))
            session.save_if_due(step_now)
            return step_now

        ending.wait_for_workers(
            self._other_workers,
            take_done=self._inbox().take,
            look_at_step=look_at_step,
            timeout_secs=self._config.end_timeout_secs,
        )

    def end(self):
        """Says that this worker is done; the chief tells the parameter servers."""
        try:
            if not self.is_chief:
                if self._has_begun:
                    self._inbox().put([self._number])
            elif signals.requested_stop() is None:
                if not self._has_begun:
                    peers.wait(self._ps.values(), timeout_secs=self._config.start_timeout_secs)
                for task in self._ps:
                    self._queue(TRAINING_DONE, task).put([self._number])
        except (tf.errors.OpError, peers.PeersMissingError) as error:
            tf1.logging.warning(
                "%s could not tell that it is done: %s", self.name, in_one_line(error)
            )

    def _inbox(self):
        return self._queue(WORKERS_DONE, min(self._ps))

    def _queue(self, name, ps_task):
        config = self._config
        return DoneQueue(
            self.master, name, job=config.task_type, task=config.task_id, ps_task=ps_task
        )


class _ThreadsHook(tf1.train.SessionRunHook):
    """Can stop the threads of a session, its queue runners, while it is open."""

    def after_create_session(self, session, coord):
        """Takes the session's coordinator."""
        del session
        self._coord = coord

    def stop(self):
        """Asks the threads to stop."""
        self._coord.request_stop()


def serve(config):
    """Holds variables, in the process of a parameter server, until the training is over.

    Args:
      config: `graphtrain.RunConfig` of a ps task.

    Raises:
      UsageError: its address cannot be used, or the chief is gone for too long.
    """
    cluster, task = config.cluster_spec, config.task_id
    started = server.start(
        cluster, PS, task, protocol=config.protocol, config=config.session_config
    )
    word = DoneQueue(started.target, TRAINING_DONE, job=PS, task=task, ps_task=task)
    tf1.logging.info("ps %d holds variables at %s", task, cluster.task_address(PS, task))
    try:
        ending.wait_for_word(
            config.worker_addresses[0],
            is_told=lambda: bool(word.take()),
            start_timeout_secs=config.start_timeout_secs,
            end_timeout_secs=config.end_timeout_secs,
        )
    except signals.Interrupted as error:
        tf1.logging.warning("ps %d: %s", task, error)
    else:
        tf1.logging.info("ps %d: the training is over", task)
