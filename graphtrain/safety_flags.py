"""absl flags of what a run does about interruptions and damage; see `SafetyConfig`."""

import dataclasses

from absl import flags

from graphtrain._flag_kinds import FlagGroup
from graphtrain.session.safety import LEARNING_RATE_ON_RESUME, ON_NOT_FINITE, SafetyConfig

# The script that calls one of the functions owns the flags: its --helpshort shows them.
flags.disclaim_key_flags()

_HELP = {
    "save_input_position": "save where the input is, so that a resumed run gets the same batches",
    "skip_input_ahead": "resumed without a saved position, take the batches of earlier steps first",
    "max_failed_saves": "how many saves may fail in a row (disk full, say) before training ends",
    "max_recoveries": "how often a lost session is made anew before training ends",
    "on_not_finite": "when the loss or a variable is nan or infinite",
    "max_bad_steps": "skip_step: how many steps in a row may be skipped",
    "max_roll_backs": "roll_back: how often a run may go back to its last checkpoint",
    "roll_back_scale": "roll_back: what the learning rate is multiplied by each time",
    "reset_optimizer": "resume with a fresh optimizer: slots and search state begin anew",
    "learning_rate_on_resume": "resume with the learning rate's schedule where it was, with the "
    "schedule from its beginning, or with another rate than the run was begun with",
    "single_writer": "refuse to train where another process does",
}

_CHOICES = {"on_not_finite": ON_NOT_FINITE, "learning_rate_on_resume": LEARNING_RATE_ON_RESUME}


def define_safety_flags(flag_values=flags.FLAGS):
    """Defines a flag for each setting of `SafetyConfig`.

    Args:
      flag_values: the absl FlagValues to define them on; a second call changes nothing.
    """
    group = FlagGroup(flag_values, first_flag="max_failed_saves")
    if group.is_defined:
        return
    for field in dataclasses.fields(SafetyConfig):
        name, default, help_text = field.name, field.default, _HELP[field.name]
        if name in _CHOICES:
            group.choice(name, default, list(_CHOICES[name]), help_text)
        elif isinstance(default, bool):
            group.switch(name, default, help_text)
        elif isinstance(default, int):
            group.whole(name, default, help_text, at_least=1 if name == "max_bad_steps" else 0)
        else:
            group.real(name, default, help_text, above=0, below=1)


def safety_from_flags(flag_values):
    """Builds the SafetyConfig of the flags of `define_safety_flags`.

    Args:
      flag_values: parsed absl FlagValues.

    Returns:
      SafetyConfig.

    >>> values = flags.FlagValues()
    >>> define_safety_flags(values)
    >>> _ = values(["train.py", "--nosingle_writer"])
    >>> safety_from_flags(values).single_writer
    False
    """
    fields = dataclasses.fields(SafetyConfig)
    return SafetyConfig(**{field.name: flag_values[field.name].value for field in fields})
