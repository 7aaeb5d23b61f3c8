import pytest
from absl import flags as absl_flags

import graphtrain
from graphtrain import app, flags


def parsed(*args):
    values = absl_flags.FlagValues()
    flags.define_run_flags(values)
    flags.define_safety_flags(values)
    flags.define_safety_flags(values)
    return app.parse(["train.py", "--save_checkpoints_steps=1", *args], values)


def test_the_defaults_are_those_of_the_library():
    assert flags.safety_from_flags(parsed()) == graphtrain.SafetyConfig()


def test_each_flag_is_in_the_run_config():
    values = parsed(
        "--nosave_input_position",
        "--skip_input_ahead",
        "--max_failed_saves=0",
        "--max_recoveries=3",
        "--nosingle_writer",
        "--on_not_finite=roll_back",
        "--max_bad_steps=2",
        "--max_roll_backs=4",
        "--roll_back_scale=0.1",
        "--learning_rate_on_resume=restart",
    )
    assert flags.run_config_from_flags(values).safety == graphtrain.SafetyConfig(
        save_input_position=False,
        skip_input_ahead=True,
        max_failed_saves=0,
        max_recoveries=3,
        single_writer=False,
        on_not_finite="roll_back",
        max_bad_steps=2,
        max_roll_backs=4,
        roll_back_scale=0.1,
        learning_rate_on_resume="restart",
    )


@pytest.mark.parametrize(
    ("arg", "message"),
    [
        ("--max_recoveries=-1", "max_recoveries=-1.0 cannot be used: give a whole number >= 0"),
        ("--max_failed_saves=1.5", "max_failed_saves=1.5 cannot be used"),
        ("--single_writer=perhaps", "Non-boolean argument to boolean flag"),
    ],
)
def test_bad_values(arg, message):
    with pytest.raises(graphtrain.UsageError, match=message):
        parsed(arg)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_failed_saves": -1}, "max_failed_saves=-1 cannot be used"),
        ({"max_recoveries": True}, "max_recoveries=True cannot be used"),
        ({"on_not_finite": "ignore"}, "choose one of 'raise', 'skip_step', 'roll_back'"),
        ({"learning_rate_on_resume": None}, "choose one of 'keep', 'restart', 'override'"),
        ({"max_bad_steps": 0}, "max_bad_steps=0 cannot be used"),
        ({"roll_back_scale": 1}, "roll_back_scale=1 cannot be used"),
        ({"single_writer": 1}, "single_writer must be True or False, got 1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(graphtrain.UsageError, match=message):
        graphtrain.SafetyConfig(**settings)
