"""What a run does about interruptions, damage and numbers that are not finite."""

import dataclasses

from graphtrain import checks
from graphtrain.errors import UsageError

ON_NOT_FINITE = ("raise", "skip_step", "roll_back")
KEEP, RESTART, OVERRIDE = "keep", "restart", "override"
LEARNING_RATE_ON_RESUME = (KEEP, RESTART, OVERRIDE)


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
      on_not_finite: what happens when the loss, or a variable that is to be saved, is nan or
        infinite: "raise" ends the run; "skip_step" undoes each step that leaves such numbers
        (in training loops of graphtrain's own); "roll_back" goes back to the last checkpoint
        with a smaller `graphtrain.learning_rate_scale`. Such numbers are never saved.
      max_bad_steps: int >= 1, how many steps in a row may be skipped.
      max_roll_backs: int >= 0, how often a run may go back.
      roll_back_scale: in (0, 1), what the learning rate is multiplied by each time.
      reset_optimizer: whether a resumed run begins with a fresh optimizer: its slots, and what a
        line search remembers, have their first values again; weights and global step go on.
      learning_rate_on_resume: what a resumed run does about its learning rate: "keep" goes on with
        the schedule where it was; "restart" begins it again at the step that was restored, for
        which it must be a function of `graphtrain.learning_rate_step()`; "override" lets the
        graph's rate count as it is, so `graphtrain.learning_rate_scale()` is 1 again. What it
        does is saved: runs that are resumed later with "keep" go on with it.
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
    on_not_finite: str = "raise"
    max_bad_steps: int = 10
    max_roll_backs: int = 3
    roll_back_scale: float = 0.5
    reset_optimizer: bool = False
    learning_rate_on_resume: str = KEEP
    single_writer: bool = True

    def __post_init__(self):
        switches = ("save_input_position", "skip_input_ahead", "reset_optimizer", "single_writer")
        for name in switches:
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"{name} must be True or False, got {getattr(self, name)!r}")
        for name in ("max_failed_saves", "max_recoveries", "max_roll_backs"):
            checks.whole(name, getattr(self, name), at_least=0)
        checks.whole("max_bad_steps", self.max_bad_steps)
        checks.one_of("on_not_finite", self.on_not_finite, ON_NOT_FINITE)
        checks.one_of(
            "learning_rate_on_resume", self.learning_rate_on_resume, LEARNING_RATE_ON_RESUME
        )
        checks.real("roll_back_scale", self.roll_back_scale, above=0, below=1)
