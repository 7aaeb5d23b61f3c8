"""A run of train.py that is resumed with another learning rate, or with its schedule anew."""

import json

import pytest

from graphtrain.errors import UsageError
from graphtrain.session import checkpoints

RUN = ["--model=mlp", "--train_step=normal", "--model_dir=run", "--learning_rate_schedule=cosine"]


def test_a_resumed_run_goes_on_at_its_rate_unless_told_otherwise(
    scripts, tmp_path, monkeypatch, capsys
):
    def train(max_steps, *args):
        """Returns what is said of the learning rate."""
        scripts.main("train", *RUN, f"--max_steps={max_steps}", *args)
        (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("learning rate"))
        return line

    def newest():
        return checkpoints.newest("run")

    monkeypatch.chdir(tmp_path)
    given = ["--learning_rate=0.2", "--decay_steps=10"]
    assert train(2, *given) == "learning rate 0.2 at step 0, 0.1809 at step 2, 0 at step 10"

    for other, message in [
        (["--decay_steps=10"], "run with --learning_rate=0.2, not with --learning_rate=0.1: give"),
        ([given[0], "--decay_steps=5"], "run with --decay_steps=10, not with --decay_steps=5: "),
        ([*given, "--end_learning_rate=0"], "run without --end_learning_rate, not with --end"),
        ([*given, "--warmup_steps=5"], "run without --warmup_steps, not with --warmup_steps=5: "),
    ]:
        before = newest()
        with pytest.raises(UsageError, match="give what it had, or --learning_rate_on_resume") as e:
            scripts.main("train", *RUN, "--max_steps=3", *other)
        assert message in str(e.value)
        assert newest() == before

    given[0] = "--learning_rate=0.4"
    assert train(4, *given, "--learning_rate_on_resume=override") == (
        "learning rate (in place of the run's) 0.4 at step 0, 0.2618 at step 4, 0 at step 10"
    )
    assert train(5, *given, "--learning_rate_on_resume=restart") == (
        "learning rate (begun anew) 0.4 at step 4, 0.3902 at step 5, 0 at step 14"
    )
    assert train(6, *given) == "learning rate 0.4 at step 4, 0.3618 at step 6, 0 at step 14"

    # A run that was begun before its rate was written down goes on too.
    path = tmp_path / "run" / "settings.json"
    settings = json.loads(path.read_text())
    assert settings.pop("learning_rate")["learning_rate"] == 0.4
    path.write_text(json.dumps(settings))
    assert (
        train(7, "--decay_steps=20")
        == "learning rate 0.1 at step 4, 0.09455 at step 7, 0 at step 24"
    )
