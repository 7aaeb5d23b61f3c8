"""Flags: what is defined, what is refused and how, and the settings built from them."""

import pytest
import tensorflow as tf
from absl import flags as absl_flags

from graphtrain import app, flags
from graphtrain.errors import UsageError
from graphtrain.optimize import optimizers

tf1 = tf.compat.v1

DEFINERS = [
    flags.define_run_flags,
    flags.define_data_flags,
    flags.define_model_flags,
    flags.define_train_step_flags,
]


def parsed(*args):
    """All our flags, parsed from these arguments."""
    values = absl_flags.FlagValues()
    for define in DEFINERS:
        define(values)
    return app.parse(["train.py", *args], values)


def rates_at(steps, *args):
    """The learning rate of these flags at some steps."""
    schedule = flags.learning_rate_from_flags(parsed(*args))
    with tf.Graph().as_default(), tf1.Session() as session:
        return session.run([schedule(tf.constant(step)) for step in steps])


def test_a_second_definition_changes_nothing():
    values = absl_flags.FlagValues()
    for define in [*DEFINERS, *DEFINERS]:
        define(values)
    assert app.parse(["x", "--epochs=3"], values).epochs == 3


def test_a_flag_of_somebody_else_is_not_taken_for_ours():
    values = absl_flags.FlagValues()
    absl_flags.DEFINE_float("learning_rate", 3.0, "theirs", flag_values=values)
    with pytest.raises(absl_flags.DuplicateFlagError):
        flags.define_train_step_flags(values)


def test_the_script_that_defines_the_flags_owns_them():
    values = absl_flags.FlagValues()
    flags.define_data_flags(values)
    assert values.find_module_defining_flag("batch_size") == __name__


NUMBER = "give a finite number > 0"
BAD = [
    (
        ["--learning_rate=nan"],
        f"flag --learning_rate=nan: learning_rate=nan cannot be used: {NUMBER}",
    ),
    (
        ["--learning_rate=-1"],
        f"flag --learning_rate=-1: learning_rate=-1.0 cannot be used: {NUMBER}",
    ),
    (["--learning_rate=0"], f"flag --learning_rate=0: learning_rate=0.0 cannot be used: {NUMBER}"),
    (
        ["--learning_rate=inf"],
        f"flag --learning_rate=inf: learning_rate=inf cannot be used: {NUMBER}",
    ),
    (["--learning_rate=x"], f"flag --learning_rate=x: learning_rate='x' cannot be used: {NUMBER}"),
    (["--epochs=0"], "epochs=0.0 cannot be used: give a whole number >= 1"),
    (["--max_steps=-5"], "max_steps=-5.0 cannot be used: give a whole number >= 1"),
    (["--batch_size=0.5"], "batch_size=0.5 cannot be used: give a whole number >= 1"),
    (["--save_checkpoints_secs=nan"], f"save_checkpoints_secs=nan cannot be used: {NUMBER}"),
    (["--dropout_rate=1"], "dropout_rate=1.0 cannot be used: give a finite number >= 0 and < 1"),
    (["--search_every=0"], "search_every=0.0 cannot be used: give a whole number >= 1"),
    (
        ["--search_every=often"],
        "search_every='often' cannot be used: give a whole number or 'adaptive'",
    ),
    (["--shrink=1"], "shrink=1.0 cannot be used: give a finite number > 0 and < 1"),
    (["--model_dir="], "model_dir='' cannot be used: it is empty"),
    (["--model=rnn"], "flag --model=rnn: value should be one of <mlp|cnn>"),
    (["--lr=3"], "Unknown command line flag 'lr'"),
    (["--learning_rate=1", "--learning_rate=2"], "flag --learning_rate=2: already defined as 1.0"),
    (["--shuffle", "--noshuffle"], "flag --shuffle=false: already defined as True"),
    (["--shuffle=maybe"], "Non-boolean argument to boolean flag"),
    (["--shuffle", "False"], "unexpected word 'False': write --noshuffle"),
    (["--shuffle", "1"], "unexpected word '1': write --shuffle"),
    (["train", "--epochs=3"], "unexpected word 'train': a flag is written --name=value"),
    (["--epochs=1", "--max_steps=1"], "--epochs and --max_steps exclude each other"),
    (
        ["--save_checkpoints_steps=1", "--save_checkpoints_epochs=1"],
        "--save_checkpoints_steps and --save_checkpoints_epochs exclude each other",
    ),
    (["--min_learning_rate=0.5"], "--min_learning_rate must not be above the learning rate, 0.1"),
    (["--model=mlp", "--batch_norm_momentum=0.5"], "--batch_norm_momentum has no effect on an mlp"),
    (["--decay_steps=10"], "--decay_steps has no effect on a constant learning rate"),
    (
        ["--learning_rate_schedule=cosine"],
        "a learning rate schedule that is cosine needs --decay_steps",
    ),
]
EXPONENTIAL = "--learning_rate_schedule=exponential"
PIECEWISE = "--learning_rate_schedule=piecewise"
BAD_SCHEDULES = [
    ([EXPONENTIAL, "--decay_steps=0"], "decay_steps=0.0 cannot be used: give a whole number >= 1"),
    ([EXPONENTIAL, "--decay_steps=-1"], "decay_steps=-1.0 cannot be used"),
    ([EXPONENTIAL, "--decay_steps=0.5"], "decay_steps=0.5 cannot be used"),
    ([EXPONENTIAL, "--decay_steps=9", "--decay_rate=0"], "decay_rate=0.0 cannot be used"),
    ([EXPONENTIAL, "--decay_steps=9", "--decay_rate=1.5"], "decay_rate=1.5 cannot be used"),
    ([EXPONENTIAL, "--decay_steps=9", "--decay_rate=nan"], "decay_rate=nan cannot be used"),
    ([EXPONENTIAL, "--decay_steps=9"], "that is exponential needs --decay_rate"),
    ([PIECEWISE, "--boundaries=10"], "that is piecewise needs --values"),
    ([PIECEWISE, "--boundaries=10", "--values=1"], "give 2 rates, one more than boundaries"),
    ([PIECEWISE, "--boundaries=10,5", "--values=3,2,1"], "each greater than the one before"),
    ([PIECEWISE, "--boundaries=10", "--values=2,-1"], "learning_rates=-1.0 cannot be used"),
    ([PIECEWISE, "--boundaries=10", "--values=2,x"], "could not convert string to float: 'x'"),
    (
        [PIECEWISE, "--boundaries=10", "--values=2,1", "--learning_rate=3"],
        "--learning_rate and --values exclude each other",
    ),
    (
        ["--learning_rate_schedule=polynomial", "--decay_steps=9", "--end_learning_rate=0.2"],
        "--end_learning_rate must not be above the learning rate, 0.1",
    ),
]


@pytest.mark.parametrize(("args", "message"), BAD + BAD_SCHEDULES, ids=str)
def test_bad_values_are_refused_when_parsed(args, message):
    with pytest.raises(UsageError) as caught:
        parsed(*args)
    assert message in str(caught.value)


def test_every_optimizer_has_a_learning_rate_of_its_own():
    assert set(flags.DEFAULT_LEARNING_RATES) == set(optimizers.NAMES)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], [0.1, 0.1, 0.1]),
        (["--optimizer=adam"], [0.001, 0.001, 0.001]),
        ([EXPONENTIAL, "--decay_steps=10", "--decay_rate=0.5"], [0.1, 0.05, 0.025]),
        ([EXPONENTIAL, "--decay_steps=20", "--decay_rate=0.5", "--staircase"], [0.1, 0.1, 0.05]),
        ([PIECEWISE, "--boundaries=5,15", "--values=3,2,1"], [3, 2, 1]),
        (
            ["--learning_rate_schedule=polynomial", "--decay_steps=20", "--end_learning_rate=0.02"],
            [0.1, 0.06, 0.02],
        ),
        (
            ["--learning_rate_schedule=cosine", "--decay_steps=20", "--end_learning_rate=0.02"],
            [0.1, 0.06, 0.02],
        ),
        (
            ["--learning_rate_schedule=inverse_time", "--decay_steps=10", "--decay_rate=1.5"],
            [0.1, 0.04, 0.025],
        ),
        (["--warmup_steps=20"], [0.005, 0.055, 0.1]),
    ],
    ids=str,
)
def test_learning_rate_schedules(args, expected):
    assert rates_at([0, 10, 20], *args) == pytest.approx(expected, rel=1e-6)


def test_the_params_of_a_model():
    params = flags.params_from_flags(parsed("--optimizer=adam", "--shrink=0.5", "--seed=7"))
    assert callable(params.pop("learning_rate"))
    assert params == {
        "optimizer": "adam",
        "train_step": "line_search",
        "condition": "decrease",
        "first_scale": "constant",
        "search_every": 1,
        "shrink": 0.5,
        "min_learning_rate": 1e-6,
        "on_failure": "restore",
        "seed": 7,
    }


def test_the_run_config(tmp_path):
    values = parsed(f"--model_dir={tmp_path}", "--seed=7", "--save_summary_steps=11")
    config = flags.run_config_from_flags(values, steps_per_epoch=188, save_every_epochs=2)
    assert config.model_dir == str(tmp_path)
    assert (config.tf_random_seed, config.save_summary_steps) == (7, 11)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (376, None)


@pytest.mark.parametrize(
    ("flag", "steps", "secs"),
    [("steps=50", 50, None), ("secs=1.5", None, 1.5), ("epochs=3", 30, None)],
)
def test_one_interval_between_checkpoints(flag, steps, secs):
    config = flags.run_config_from_flags(parsed(f"--save_checkpoints_{flag}"), steps_per_epoch=10)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (steps, secs)


def test_an_interval_in_epochs_of_unknown_length_is_refused():
    with pytest.raises(UsageError, match="give --save_checkpoints_steps"):
        flags.run_config_from_flags(parsed())
