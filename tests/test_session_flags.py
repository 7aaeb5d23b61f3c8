"""The flags of how the graph is run."""

import pytest
from absl import flags as absl_flags

from graphtrain import flags


def parsed(*arguments):
    values = absl_flags.FlagValues()
    flags.define_run_flags(values)
    flags.define_session_flags(values)
    flags.define_session_flags(values)
    values(["train.py", *arguments])
    return values


def test_defaults():
    config = flags.run_config_from_flags(parsed("--save_checkpoints_steps=5"))
    assert config.steps_per_run == 1
    assert config.session_config.intra_op_parallelism_threads == 0
    assert not config.session_config.graph_options.rewrite_options.disable_meta_optimizer


def test_every_flag_reaches_the_settings():
    values = parsed(
        "--save_checkpoints_steps=5",
        "--steps_per_run=auto",
        "--intra_op_threads=2",
        "--inter_op_threads=3",
        "--xla",
        "--bfloat16",
        "--nooptimize_graph",
        "--profile_steps=100-110",
    )
    config = flags.run_config_from_flags(values)
    assert config.steps_per_run == "auto"
    options = config.session_config.graph_options
    assert config.session_config.intra_op_parallelism_threads == 2
    assert config.session_config.inter_op_parallelism_threads == 3
    assert options.optimizer_options.global_jit_level == 1
    assert options.rewrite_options.auto_mixed_precision_onednn_bfloat16 == 1
    assert options.rewrite_options.disable_meta_optimizer
    assert values.profile_steps == (100, 110)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--steps_per_run=0", "give a whole number >= 1"),
        ("--steps_per_run=many", "steps_per_run='many'"),
        ("--intra_op_threads=-1", "give a whole number >= 1"),
        ("--profile_steps=110-100", "profile_steps='110-100' cannot be used"),
        ("--profile_steps=100", "such as 100-110"),
    ],
)
def test_bad_values(argument, message):
    with pytest.raises(absl_flags.IllegalFlagValueError, match=message):
        parsed(argument)
