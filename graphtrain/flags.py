"""absl flags of a training run, and the settings that are built from them.

A script defines the groups that it wants, beside its own flags, and builds settings from the
parsed values in its main. The library itself never reads flags.

>>> values = flags.FlagValues()
>>> define_train_step_flags(values)
>>> _ = values(["train.py", "--train_step=normal", "--optimizer=adam"])
>>> params_from_flags(values)["optimizer"]
'adam'
"""

from absl import flags

from graphtrain import checks
from graphtrain._flag_kinds import FlagGroup, as_number
from graphtrain.cluster_flags import (
    cluster_from_flags,  # noqa: F401
    cluster_settings_from_flags,
    define_cluster_flags,  # noqa: F401
)
from graphtrain.errors import UsageError
from graphtrain.estimator import RunConfig
from graphtrain.optimize import optimizers, schedules
from graphtrain.safety_flags import define_safety_flags, safety_from_flags  # noqa: F401
from graphtrain.search_flags import SETTINGS, define_search_flags
from graphtrain.session.session_config import session_config

# The script that calls one of the functions owns the flags: its --helpshort shows them.
flags.disclaim_key_flags()

DEFAULT_LEARNING_RATES = {
    "sgd": 0.1,
    "momentum": 0.01,
    "nesterov": 0.01,
    "adam": 0.001,
    "adagrad": 0.01,
    "adadelta": 1.0,
    "rmsprop": 0.001,
    "ftrl": 0.1,
}
_PARAMS = (
    "optimizer",
    "train_step",
    *SETTINGS,
    "dropout_rate",
    "batch_norm_momentum",
    "seed",
)
_DECAYS = ("exponential", "polynomial", "inverse_time", "cosine")
_FRACTION = {"at_least": 0, "below": 1}
# Which schedules use a flag; they all need it, but those that end in _OPTIONAL do not.
_USED_BY = {
    "decay_steps": _DECAYS,
    "decay_rate": ("exponential", "inverse_time"),
    "boundaries": ("piecewise",),
    "values": ("piecewise",),
    "staircase": ("exponential", "inverse_time"),
    "end_learning_rate": ("polynomial", "cosine"),
}
_OPTIONAL = ("staircase", "end_learning_rate")


def define_run_flags(flag_values=flags.FLAGS):
    """Defines where and how long to train, and how often to save and report.

    Args:
      flag_values: the absl FlagValues to define them on; a second call changes nothing.
    """
    group = FlagGroup(flag_values, first_flag="epochs")
    if group.is_defined:
        return
    group.whole(
        "epochs",
        None,
        "passes over the training data, those of earlier runs in --model_dir included",
    )
    group.whole("max_steps", None, "the global step to train to, in place of --epochs")
    group.text("model_dir", None, "where checkpoints and summaries go; a run continues there")
    group.whole("seed", 1, "seed of initial values, shuffling and dropout", at_least=0)
    group.whole("save_checkpoints_steps", None, "save every so many steps")
    group.real("save_checkpoints_secs", None, "save every so many seconds", above=0)
    group.whole("save_checkpoints_epochs", None, "save (and evaluate) every so many epochs")
    group.whole("keep_checkpoint_max", 5, "how many checkpoints to keep; 0 keeps all", at_least=0)
    group.whole("save_summary_steps", 100, "write summaries every so many steps")
    group.whole("log_steps", 100, "show loss and speed every so many steps")
    group.check_together(["epochs", "max_steps"], _at_most_one("epochs", "max_steps"))
    intervals = [f"save_checkpoints_{unit}" for unit in ("steps", "secs", "epochs")]
    group.check_together(intervals, _at_most_one(*intervals))


def define_data_flags(flag_values=flags.FLAGS):
    """Defines which data to use and how to batch it.

    Args:
      flag_values: the absl FlagValues to define them on; a second call changes nothing.
    """
    group = FlagGroup(flag_values, first_flag="batch_size")
    if group.is_defined:
        return
    group.whole("batch_size", 32, "training examples in one step")
    group.whole("eval_batch_size", 500, "examples in one batch of evaluation or prediction")
    group.choice("data", "sample", ["sample", "mnist", "fashion_mnist"], "the data set")
    group.text("data_dir", None, "the folder of the data set's idx or npz files")
    group.switch("shuffle", True, "draw the training examples in a new order in each epoch")


def define_model_flags(flag_values=flags.FLAGS):
    """Defines which of the package's models to train.

    Args:
      flag_values: the absl FlagValues to define them on; a second call changes nothing.
    """
    group = FlagGroup(flag_values, first_flag="dropout_rate")
    if group.is_defined:
        return
    group.real(
        "dropout_rate",
        None,
        "fraction of units dropped; by default as in the article",
        at_least=0,
        below=1,
    )
    group.real("batch_norm_momentum", None, "cnn: of its averages, by default 0.9", **_FRACTION)
    group.choice("model", "cnn", ["mlp", "cnn"], "the model")
    group.check_together(["model", "batch_norm_momentum"], _check_batch_norm)


def define_train_step_flags(flag_values=flags.FLAGS):
    """Defines the optimizer, its learning rate and the line search.

    Args:
      flag_values: the absl FlagValues to define them on; a second call changes nothing.
    """
    group = FlagGroup(flag_values, first_flag="learning_rate")
    if group.is_defined:
        return
    rates = ", ".join(f"{name} {rate:g}" for name, rate in DEFAULT_LEARNING_RATES.items())
    group.real("learning_rate", None, f"the (first) learning rate; by default {rates}", above=0)
    group.choice("optimizer", "sgd", list(optimizers.NAMES), "how a step is taken")
    group.choice("train_step", "line_search", ["normal", "line_search"], "how long a step is")
    define_search_flags(group)
    group.check_together(
        ["train_step", "optimizer", "learning_rate", "min_learning_rate"], _check_smallest_rate
    )
    _define_schedule_flags(group)


def _define_schedule_flags(group):
    group.choice(
        "learning_rate_schedule",
        "constant",
        ["constant", "piecewise", *_DECAYS],
        "how the learning rate changes with the global step",
    )
    group.whole("decay_steps", None, "schedule: steps (not epochs) of the decay")
    group.real("decay_rate", None, "schedule: exponential or inverse_time factor", above=0)
    group.switch("staircase", False, "schedule: decay in jumps every --decay_steps")
    group.numbers("boundaries", "schedule: piecewise, steps at which the rate changes")
    group.numbers("values", "schedule: piecewise, the rates, one more than --boundaries")
    group.real("end_learning_rate", None, "schedule: last rate of polynomial, cosine", at_least=0)
    group.whole("warmup_steps", None, "schedule: steps in which the rate rises to it")
    for name in _USED_BY:
        group.check_together(["learning_rate_schedule", name], _check_use_of(name))
    group.check_together(["learning_rate", "values"], _at_most_one("learning_rate", "values"))
    group.check_together(["boundaries", "values"], _check_pieces)
    group.check_together(["learning_rate_schedule", "decay_rate"], _check_decay_rate)
    group.check_together(["optimizer", "learning_rate", "end_learning_rate"], _check_last_rate)


def define_session_flags(flag_values=flags.FLAGS):
    """Defines how TensorFlow runs the graph, and what is told of its speed.

    Args:
      flag_values: the absl FlagValues to define them on; a second call changes nothing.
    """
    group = FlagGroup(flag_values, first_flag="intra_op_threads")
    if group.is_defined:
        return
    group.whole("intra_op_threads", None, "threads that one op may use")
    group.whole("inter_op_threads", None, "ops that may run at once")
    group.parsed(
        "steps_per_run",
        1,
        "a whole number or auto",
        lambda text: text if text == "auto" else checks.whole("steps_per_run", as_number(text)),
        "steps in one session.run; more is faster on small models; auto finds out how many",
    )
    group.switch("xla", False, "compile the graph with XLA")
    group.switch("bfloat16", False, "compute in bfloat16; weights stay float32")
    group.switch("optimize_graph", True, "let TensorFlow rewrite the graph before it runs it")
    group.parsed(
        "profile_steps",
        None,
        "first-last",
        _steps_from_to,
        "write a trace of these steps, such as 100-110, for TensorBoard's profiler",
    )
    group.switch("report_time", False, "tell at the end where the time went")


def _steps_from_to(text):
    first, dash, last = str(text).partition("-")
    if not (dash and first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise UsageError(
            f"profile_steps={text!r} cannot be used: give the first and the last step, such as "
            "100-110"
        )
    return int(first), int(last)


def session_config_from_flags(flag_values):
    """Builds the ConfigProto of the flags of `define_session_flags`.

    Args:
      flag_values: parsed absl FlagValues.

    Returns:
      `tf.compat.v1.ConfigProto`.
    """
    names = ("intra_op_threads", "inter_op_threads", "xla", "bfloat16", "optimize_graph")
    return session_config(**{name: flag_values[name].value for name in names})


def run_config_from_flags(flag_values, *, steps_per_epoch=None, save_every_epochs=1):
    """Builds the RunConfig of the flags of `define_run_flags`.

    Args:
      flag_values: parsed absl FlagValues; those of `define_session_flags`,
        `define_safety_flags` and `define_cluster_flags` are used if they are there.
      steps_per_epoch: int, steps in one pass over the training data; None if unknown.
      save_every_epochs: int, the checkpoint interval if no flag gives one.

    Returns:
      RunConfig.

    Raises:
      UsageError: the interval is in epochs, and steps_per_epoch is not known.
    """
    steps, secs = flag_values.save_checkpoints_steps, flag_values.save_checkpoints_secs
    if steps is None and secs is None:
        if steps_per_epoch is None:
            raise UsageError(
                "Without steps_per_epoch there is no interval between checkpoints in epochs: "
                "give --save_checkpoints_steps or --save_checkpoints_secs."
            )
        steps = (flag_values.save_checkpoints_epochs or save_every_epochs) * steps_per_epoch
    more = {}
    if "single_writer" in flag_values:
        more["safety"] = safety_from_flags(flag_values)
    if "steps_per_run" in flag_values:
        more["steps_per_run"] = flag_values.steps_per_run
        more["report_time"] = flag_values.report_time
        more["session_config"] = session_config_from_flags(flag_values)
    if "task_index" in flag_values:
        more.update(cluster_settings_from_flags(flag_values))
    return RunConfig(
        model_dir=flag_values.model_dir,
        tf_random_seed=flag_values.seed,
        save_summary_steps=flag_values.save_summary_steps,
        save_checkpoints_steps=steps,
        save_checkpoints_secs=secs,
        keep_checkpoint_max=flag_values.keep_checkpoint_max,
        log_step_count_steps=flag_values.log_steps,
        **more,
    )


def params_from_flags(flag_values):
    """Builds the params of a model_fn from the flags of the model and of the train step.

    Args:
      flag_values: parsed absl FlagValues, with the flags of `define_train_step_flags` and
        perhaps those of `define_model_flags` and `define_run_flags`.

    Returns:
      dict, with the keys that `graphtrain.models` takes; "learning_rate" is a schedule, a
      function of the global step.
    """
    given = {name: flag_values[name].value for name in _PARAMS if name in flag_values}
    params = {name: value for name, value in given.items() if value is not None}
    return {**params, "learning_rate": learning_rate_from_flags(flag_values)}


def learning_rate_from_flags(flag_values):
    """Builds the learning rate schedule of the flags of `define_train_step_flags`.

    Args:
      flag_values: parsed absl FlagValues.

    Returns:
      A function: global step (integer scalar tensor) -> rate (float32 scalar tensor).

    >>> values = flags.FlagValues()
    >>> define_train_step_flags(values)
    >>> argv = ["train.py", "--learning_rate=0.1", "--learning_rate_schedule=exponential"]
    >>> _ = values([*argv, "--decay_steps=10", "--decay_rate=0.5"])
    >>> with tf1.Session() as session:
    ...     print(f"{session.run(learning_rate_from_flags(values)(20)):.3f}")
    0.025
    """
    schedule = _schedule(flag_values, _first_rate(flag_values.optimizer, flag_values.learning_rate))
    if flag_values.warmup_steps is None:
        return schedule
    return schedules.linear_warmup(schedule, warmup_steps=flag_values.warmup_steps)


def _schedule(given, rate):
    kind, steps, end = given.learning_rate_schedule, given.decay_steps, given.end_learning_rate
    if kind == "constant":
        return schedules.constant(rate)
    if kind == "piecewise":
        return schedules.piecewise(given.boundaries, given["values"].value)
    if kind == "polynomial":
        ending = {} if end is None else {"end_learning_rate": end}
        return schedules.polynomial(rate, decay_steps=steps, **ending)
    if kind == "cosine":
        return schedules.cosine(rate, decay_steps=steps, alpha=(end or 0.0) / rate)
    make = {"exponential": schedules.exponential, "inverse_time": schedules.inverse_time}[kind]
    return make(rate, decay_steps=steps, decay_rate=given.decay_rate, staircase=given.staircase)


def _first_rate(optimizer, learning_rate):
    return DEFAULT_LEARNING_RATES[optimizer] if learning_rate is None else learning_rate


def _at_most_one(*names):
    def check(*values):
        given = [
            f"--{name}" for name, value in zip(names, values, strict=True) if value is not None
        ]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} exclude each other: give one of them")

    return check


def _check_batch_norm(model, momentum):
    if momentum is not None and model != "cnn":
        raise UsageError(f"--batch_norm_momentum has no effect on an {model}: leave it out")


def _check_use_of(name):
    def check(schedule, value):
        used, given = schedule in _USED_BY[name], value not in (None, False)
        if given and not used:
            raise UsageError(
                f"--{name} has no effect on a {schedule} learning rate: leave it out, or give "
                f"--learning_rate_schedule={'|'.join(_USED_BY[name])}"
            )
        if used and not given and name not in _OPTIONAL:
            raise UsageError(f"a learning rate schedule that is {schedule} needs --{name}")

    return check


def _check_smallest_rate(train_step, optimizer, learning_rate, smallest):
    first = _first_rate(optimizer, learning_rate)
    if train_step == "line_search" and smallest > first:
        raise UsageError(f"--min_learning_rate must not be above the learning rate, {first:g}")


def _check_pieces(boundaries, rates):
    if boundaries is not None and rates is not None:
        schedules.piecewise(boundaries, rates)


def _check_decay_rate(schedule, decay_rate):
    if schedule == "exponential" and decay_rate is not None:
        schedules.exponential(1.0, decay_steps=1, decay_rate=decay_rate)


def _check_last_rate(optimizer, learning_rate, last):
    first = _first_rate(optimizer, learning_rate)
    if last is not None and last > first:
        raise UsageError(f"--end_learning_rate must not be above the learning rate, {first:g}")
