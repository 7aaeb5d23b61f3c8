"""What a run does about interruptions, damage and numbers that are not finite."""

import dataclasses

from graphtrain import checks
from graphtrain.errors import UsageError


@dataclasses.dataclass(frozen=True)
class SafetyConfig:
    """How much a training session saves, and what it puts up with before it gives up.

    Args:
      save_input_position: whether checkpoints hold where the input is, shuffle buffers included,
        so that a resumed run gets the batches that an unbroken one would have got. A shuffle
        buffer of many gigabytes may be too much to save.
      skip_input_ahead: whether a run resumed without such a position first takes as many
        batches from its input as steps were made, to end up in the same place.
      max_failed_saves: int >= 0, how many periodic saves may fail one after another (disk full,
        say) before training ends with the error.
      max_recoveries: int >= 0, how often a lost session (a machine of a cluster that went away)
        is made anew, before training ends with the error.
      single_writer: whether a lock file keeps a second process from training in the directory.

    Raises:
      UsageError: a value makes no sense.

    Example:
      >>> SafetyConfig(max_failed_saves=0).save_input_position
      True
    """

    save_input_position: bool = True
    skip_input_ahead: bool = False
    max_failed_saves: int = 5
    max_recoveries: int = 10
    single_writer: bool = True

    def __post_init__(self):
        for name in ("save_input_position", "skip_input_ahead", "single_writer"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name} must be True or False, got {getattr(self, name)!r}")
        for name in ("max_failed_saves", "max_recoveries"):
            checks.whole(name, getattr(self, name), at_least=0)
