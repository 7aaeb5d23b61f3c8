import importlib
import pathlib
import sys

import pytest

import graphtrain

SCRIPTS = pathlib.Path(__file__).parents[2] / "scripts"


def launch(scripts, *args):
    return importlib.import_module("launch_local").main(list(args))


@pytest.mark.slow
def test_a_script_is_trained_by_a_cluster(scripts, tmp_path):
    train = [
        *(sys.executable, str(SCRIPTS / "train.py"), "--model=mlp", "--train_step=normal"),
        *("--max_steps=200", f"--model_dir={tmp_path}", "--log_steps=50"),
    ]
    code, out, err = scripts.run("launch_local", "--workers=2", "--ps=1", "--", *train)
    assert (code, err) == (0, "")
    assert "[worker 0] mlp on sample: 6000 images, 188 steps an epoch; starting, to step 200" in out
    assert "[worker 1] worker 1 is done; the newest checkpoint: step" in out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--workers=0", "--", "true"], "workers=0 cannot be used: give a whole number >= 1"),
        (["--workers=2"], "there is no command: write it after --, such as -- python train.py"),
        (["--", "no_such_command"], "'no_such_command' cannot be run: No such file or directory"),
    ],
)
def test_mistakes(scripts, args, message):
    with pytest.raises(graphtrain.UsageError, match=message):
        launch(scripts, *args)


def test_a_failure_ends_all_and_is_the_exit_code(scripts, capsys):
    script = 'case "$TF_CONFIG" in *\'"ps", "index"\'*) exit 7;; esac; exec sleep 60'
    assert launch(scripts, "--ps=1", "--", "sh", "-c", script) == 7
    assert "[ps 0] ended with exit code 7" in capsys.readouterr().out
