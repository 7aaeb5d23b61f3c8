"""A run of train.py whose numbers overflow ends in one line, with a finite checkpoint."""

import numpy as np
import pytest
import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.session import checkpoints

RUN = ["--model=mlp", "--train_step=normal", "--learning_rate=1e30", "--max_steps=9"]
ENDS = {
    "raise": ([], "The loss became nan. A smaller --learning_rate may help.", 0),
    "skip_step": (["--max_bad_steps=3"], "3 steps in a row were not finite.", 2),
    "roll_back": (["--max_roll_backs=1"], "The loss became nan. A smaller --learning_rate may", 0),
}


@pytest.mark.parametrize("policy", ENDS)
def test_it_ends_in_one_line(scripts, tmp_path, policy):
    args, message, saved = ENDS[policy]
    args = [*args, f"--on_not_finite={policy}", f"--model_dir={tmp_path}"]
    with pytest.raises(UsageError) as caught:
        scripts.main("train", *RUN, f"--save_checkpoints_steps={saved or 5}", *args)
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith(f"The newest checkpoint, of step {saved}, is finite.")
    newest = checkpoints.newest(str(tmp_path))
    assert checkpoints.global_step_of(newest) == saved
    kernel = tf.train.load_variable(newest, "dense/kernel")
    assert np.isfinite(kernel).all()
