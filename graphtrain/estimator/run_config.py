"""How a run is run: where it saves, how often, with which seed."""

import copy
import os

import tensorflow as tf

from graphtrain.distribute import choose, tf_config
from graphtrain.errors import UsageError
from graphtrain.estimator import run_config_checks
from graphtrain.estimator.cluster_properties import ClusterProperties
from graphtrain.session.safety import SafetyConfig

tf1 = tf.compat.v1

_NOT_GIVEN = object()
_REPLACEABLE = (
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
    "checkpoint_save_graph_def",
    "steps_per_run",
    "report_time",
    "safety",
    "distribution",
    "start_timeout_secs",
    "end_timeout_secs",
    "stall_timeout_secs",
)


class RunConfig(ClusterProperties):
    """The settings of an Estimator's runs: validated when made, changed only by `replace`.

    Which process of which cluster this is comes from the environment variable TF_CONFIG, which
    is read when the object is made, or from `cluster`.

    A subclass may add settings of its own: it calls `super().__init__` with ours, and
    `replace` keeps them.

    Args:
      model_dir: str or path, where checkpoints and event files go; None lets TF_CONFIG or the
        Estimator choose.
      tf_random_seed: int, the graph-level seed, set before any op is made; None draws anew in
        every run.
      save_summary_steps: int >= 0, steps between two summaries; 0 or None writes none.
      save_checkpoints_steps: int >= 0, steps between two checkpoints.
      save_checkpoints_secs: seconds >= 0 between two checkpoints; 600 if neither of the two is
        given. If both are None or 0, no checkpoint is written.
      session_config: `tf.compat.v1.ConfigProto`, or None for the default.
      keep_checkpoint_max: int >= 0, how many of the newest checkpoints are kept; 0 or None
        keeps all.
      keep_checkpoint_every_n_hours: hours > 0; one checkpoint of each such span is kept for
        good.
      log_step_count_steps: int > 0, steps between two lines of loss and steps per second; None
        writes none.
      train_distribute: None; a `tf.distribute` strategy cannot be used.
      device_fn: callable from an operation to its device, or None.
      protocol: str, the protocol of TensorFlow's servers; None for "grpc".
      eval_distribute: None, as `train_distribute`.
      experimental_distribute: None, as `train_distribute`.
      experimental_max_worker_delay_secs: seconds >= 0 that a worker waits at most before it
        starts, or None.
      session_creation_timeout_secs: seconds > 0 that a worker waits for its session.
      checkpoint_save_graph_def: bool, whether the graph is written beside the checkpoints.
      steps_per_run: int >= 1, the most training steps in one `session.run`; or "auto", which
        times the first steps and chooses. More save time on small models. Runs are shorter where
        a step limit, a checkpoint, a summary or a hook of ours wants a step; hooks of others are
        called once a run, and a signal is heard at its end.
      report_time: bool, whether the graph measures its waits for input and its searches, for
        `Estimator.last_train_result.secs`.
      safety: `SafetyConfig`: what a run does about interruptions, damage and numbers that are
        not finite.
      cluster: `ClusterSettings`, such as `graphtrain.flags.cluster_from_flags` returns; None reads
        TF_CONFIG.
      distribution: how several processes train together: "parameter_server", each by itself on
        variables that parameter servers hold, or "all_reduce", in step, each with all variables.
        None takes the first if the cluster has ps tasks, else the second.
      start_timeout_secs: seconds >= 0 that a process waits for the others of its cluster to
        answer, at the start and after a loss.
      end_timeout_secs: seconds >= 0 that a chief whose training has ended waits for workers that
        make no steps, and a parameter server for a chief that is gone.
      stall_timeout_secs: seconds > 0 that a worker of a synchronous training waits for the others
        at a step; a chief that evaluates keeps them waiting.

    Raises:
      UsageError: a value out of range, both checkpoint intervals given, or a distribution that
        the cluster cannot have.
      TypeError: an argument has the wrong type.

    Example:
      >>> config = graphtrain.RunConfig(save_checkpoints_steps=100)
      >>> config.replace(save_checkpoints_secs=60).save_checkpoints_steps is None
      True
    """

    def __init__(
        self,
        model_dir=None,
        tf_random_seed=None,
        save_summary_steps=100,
        save_checkpoints_steps=_NOT_GIVEN,
        save_checkpoints_secs=_NOT_GIVEN,
        session_config=None,
        keep_checkpoint_max=5,
        keep_checkpoint_every_n_hours=10000,
        log_step_count_steps=100,
        *,
        train_distribute=None,
        device_fn=None,
        protocol=None,
        eval_distribute=None,
        experimental_distribute=None,
        experimental_max_worker_delay_secs=None,
        session_creation_timeout_secs=7200,
        checkpoint_save_graph_def=True,
        steps_per_run=1,
        report_time=False,
        safety=None,
        cluster=None,
        distribution=None,
        start_timeout_secs=300,
        end_timeout_secs=300,
        stall_timeout_secs=600,
    ):
        if save_checkpoints_steps is _NOT_GIVEN and save_checkpoints_secs is _NOT_GIVEN:
            save_checkpoints_secs = 600
        if cluster is None:
            cluster = tf_config.parse(os.environ.get("TF_CONFIG", ""))
        self._cluster = run_config_checks.cluster("cluster", cluster)
        self._set(
            model_dir=_one_directory(model_dir, self._cluster.model_dir),
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=_none_if_not_given(save_checkpoints_steps),
            save_checkpoints_secs=_none_if_not_given(save_checkpoints_secs),
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            train_distribute=train_distribute,
            device_fn=device_fn,
            protocol=protocol,
            eval_distribute=eval_distribute,
            experimental_distribute=experimental_distribute,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs,
            checkpoint_save_graph_def=checkpoint_save_graph_def,
            steps_per_run=steps_per_run,
            report_time=report_time,
            safety=SafetyConfig() if safety is None else safety,
            distribution=distribution,
            start_timeout_secs=start_timeout_secs,
            end_timeout_secs=end_timeout_secs,
            stall_timeout_secs=stall_timeout_secs,
        )

    def replace(self, **settings):
        """Returns a validated copy with some settings changed.

        Giving one of `save_checkpoints_steps` and `save_checkpoints_secs` unsets the other.

        Args:
          **settings: the constructor's arguments that are to change.

        Returns:
          A new object of the same class.

        Raises:
          UsageError: an unknown setting, a value out of range, or both checkpoint intervals.

        Example:
          >>> graphtrain.RunConfig().replace(model_dir="/tmp/run").model_dir
          '/tmp/run'
        """
        unknown = sorted(set(settings) - set(_REPLACEABLE))
        if unknown:
            raise UsageError(
                f"RunConfig cannot replace {', '.join(unknown)}; it can replace "
                f"{', '.join(_REPLACEABLE)}."
            )
        intervals = ("save_checkpoints_steps", "save_checkpoints_secs")
        for given, other in (intervals, intervals[::-1]):
            if settings.get(given) is not None and other not in settings:
                settings[other] = None
        changed = copy.copy(self)
        changed._set(
            **{name: settings.get(name, getattr(self, f"_{name}")) for name in _REPLACEABLE}
        )
        return changed

    def _set(self, **settings):
        for name, value in settings.items():
            setattr(self, f"_{name}", run_config_checks.CHECKS[name](name, value))
        if self._save_checkpoints_steps is not None and self._save_checkpoints_secs is not None:
            raise UsageError(
                "save_checkpoints_steps and save_checkpoints_secs cannot both be set, got "
                f"{self._save_checkpoints_steps} steps and {self._save_checkpoints_secs} secs: "
                "give one of them."
            )
        choose.distribution_of(self._distribution, self._cluster)

    @property
    def model_dir(self):
        """Str or None, where checkpoints and event files go."""
        return self._model_dir

    @property
    def tf_random_seed(self):
        """Int or None, the graph-level random seed."""
        return self._tf_random_seed

    @property
    def save_summary_steps(self):
        """Int or None, steps between two summaries."""
        return self._save_summary_steps

    @property
    def save_checkpoints_steps(self):
        """Int or None, steps between two checkpoints."""
        return self._save_checkpoints_steps

    @property
    def save_checkpoints_secs(self):
        """Number or None, seconds between two checkpoints."""
        return self._save_checkpoints_secs

    @property
    def session_config(self):
        """A copy of the `ConfigProto`, or None."""
        return copy.deepcopy(self._session_config)

    @property
    def keep_checkpoint_max(self):
        """Int or None, how many of the newest checkpoints are kept."""
        return self._keep_checkpoint_max

    @property
    def keep_checkpoint_every_n_hours(self):
        """Number, hours of which one checkpoint is kept for good."""
        return self._keep_checkpoint_every_n_hours

    @property
    def safety(self):
        """The `SafetyConfig`."""
        return self._safety

    @property
    def report_time(self):
        """Whether the graph measures its waits for input and its searches."""
        return self._report_time

    @property
    def steps_per_run(self):
        """The most training steps in one `session.run`, or "auto"."""
        return self._steps_per_run

    @property
    def log_step_count_steps(self):
        """Int or None, steps between two log lines."""
        return self._log_step_count_steps

    @property
    def train_distribute(self):
        """None."""
        return self._train_distribute

    @property
    def eval_distribute(self):
        """None."""
        return self._eval_distribute

    @property
    def protocol(self):
        """Str, the protocol of TensorFlow's servers, or None."""
        return self._protocol

    @property
    def experimental_max_worker_delay_secs(self):
        """Number, seconds that a worker waits at most before it starts, or None."""
        return self._experimental_max_worker_delay_secs

    @property
    def device_fn(self):
        """Callable from an operation to its device, or None."""
        return self._device_fn

    @property
    def session_creation_timeout_secs(self):
        """Number, seconds that a worker waits for its session."""
        return self._session_creation_timeout_secs

    @property
    def checkpoint_save_graph_def(self):
        """Bool, whether the graph is written beside the checkpoints."""
        return self._checkpoint_save_graph_def


def default_session_config():
    """Returns the `ConfigProto` of a run whose RunConfig has none.

    Ops are placed softly, and the graph rewriter makes one pass: with large graphs a second
    pass costs more than it saves.

    Returns:
      `tf.compat.v1.ConfigProto`.

    Example:
      >>> graphtrain.estimator.run_config.default_session_config().allow_soft_placement
      True
    """
    config = tf1.ConfigProto(allow_soft_placement=True)
    rewrite_options = config.graph_options.rewrite_options
    rewrite_options.meta_optimizer_iterations = rewrite_options.ONE
    return config


def _none_if_not_given(value):
    return None if value is _NOT_GIVEN else value


def _one_directory(model_dir, chosen):
    if chosen is None or model_dir is None:
        return chosen if model_dir is None else model_dir
    if os.fspath(model_dir) != chosen:
        raise UsageError(
            f"model_dir is {model_dir!r} as an argument, but {chosen!r} in TF_CONFIG: give it once."
        )
    return model_dir
