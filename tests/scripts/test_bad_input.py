"""A user's mistake: one line that says what to do, and nothing changed on disk."""

import json

import numpy as np
import pytest

from graphtrain.errors import UsageError


def files_in(directory):
    """Every file below a directory, with its content."""
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def write_run(model_dir, **settings):
    """The settings file of a run, without a checkpoint."""
    model_dir.mkdir()
    content = {"model": "mlp", "optimizer": "adam", "data": "sample", "data_dir": None, **settings}
    (model_dir / "settings.json").write_text(json.dumps(content))


TORN = ["--model_dir=torn_run", "--model=mlp", "--optimizer=adam"]
LOCKED = ["--model_dir=locked_run", "--model=mlp", "--optimizer=adam", "--train_step=normal"]
BAD_TRAINING = [
    (["--epochs=0"], "epochs=0.0 cannot be used: give a whole number >= 1"),
    (["--resume", "False"], "Unknown command line flag 'resume'"),
    (["--shuffle", "False"], "unexpected word 'False': write --noshuffle"),
    (["--data_dir=."], "data_dir='.' cannot be used with 'sample', which is embedded"),
    (["--data=mnist", "--data_dir=none"], "none has neither mnist.npz nor all idx files"),
    (["--data=mnist", "--data_dir=torn"], "torn/mnist.npz is no npz file, or a damaged one"),
    (["--data=mnist", "--data_dir=uneven"], "has 3 labels, and"),
    (["--data=mnist", "--data_dir=lying"], "its header promises"),
    (["--model_dir=run"], "run holds a run with --model=mlp, not cnn: give --model=mlp or another"),
    (["--model_dir=run", "--model=mlp"], "run holds a run with --optimizer=adam, not sgd"),
    (["--model_dir=file"], "file cannot be written to: File exists"),
    (["--model_dir=file/run"], "file/run cannot be written to: Not a directory"),
    (["--model_dir=garbled"], "garbled/settings.json is damaged"),
    (["--model_dir=nameless"], "nameless/settings.json names no model"),
    ([*TORN, "--epochs=1"], "No checkpoint in torn_run can be read: model.ckpt-5 ("),
    ([*TORN, "--epochs=1"], "Put the files back, or remove them and the file 'checkpoint'"),
    (LOCKED, "locked_run is being written to by process 7 on elsewhere"),
    (LOCKED, "remove locked_run/train.lock, or set single_writer=False"),
    (["--on_not_finite=ignore"], "value should be one of <raise|skip_step|roll_back>"),
    (["--max_failed_saves=-1"], "max_failed_saves=-1.0 cannot be used: give a whole number >= 0"),
    (["--max_recoveries=1.5"], "max_recoveries=1.5 cannot be used: give a whole number >= 0"),
    (["--max_bad_steps=0"], "max_bad_steps=0.0 cannot be used: give a whole number >= 1"),
    (["--max_roll_backs=many"], "max_roll_backs='many' cannot be used: give a whole number >= 0"),
    (["--roll_back_scale=1"], "roll_back_scale=1.0 cannot be used: give a finite number > 0 and"),
    (["--roll_back_scale=nan"], "roll_back_scale=nan cannot be used: give a finite number > 0"),
    (["--single_writer=perhaps"], "Non-boolean argument to boolean flag"),
    (["--save_checkpoints_steps=0"], "save_checkpoints_steps=0.0 cannot be used"),
    (["--save_checkpoints_secs=0"], "save_checkpoints_secs=0.0 cannot be used"),
    (["--save_checkpoints_secs=-inf"], "save_checkpoints_secs=-inf cannot be used"),
    (["--keep_checkpoint_max=-1"], "keep_checkpoint_max=-1.0 cannot be used"),
    (["--model_dir="], "model_dir='' cannot be used: it is empty"),
    (["--max_steps=1", "--epochs=1"], "--epochs and --max_steps exclude each other"),
    (["--max_steps=1", "--max_steps=2"], "max_steps"),
]


@pytest.fixture
def bad_files(tmp_path, monkeypatch):
    """A working directory with damaged data sets and runs."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run")
    write_run(tmp_path / "garbled")
    (tmp_path / "garbled" / "settings.json").write_text('{"model": "ml')
    write_run(tmp_path / "nameless", model=None)
    for name in ("torn_run", "locked_run"):
        write_run(tmp_path / name)
    (tmp_path / "torn_run" / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-5"\n')
    (tmp_path / "torn_run" / "model.ckpt-5.index").write_bytes(b"half an ind")
    (tmp_path / "locked_run" / "train.lock").write_text('{"pid": 7, "host": "elsewhere"}')
    for name in ("torn", "uneven", "lying"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "torn" / "mnist.npz").write_bytes(b"PK\x03\x04 and no more")
    images, labels = np.zeros([2, 28, 28], np.uint8), np.zeros([3], np.uint8)
    np.savez(
        tmp_path / "uneven" / "mnist.npz",
        x_train=images,
        y_train=labels,
        x_test=images,
        y_test=labels,
    )
    header = bytes([0, 0, 8, 3, 127, 255, 255, 255, 0, 0, 0, 28, 0, 0, 0, 28])
    for part in ("train", "t10k"):
        (tmp_path / "lying" / f"{part}-images-idx3-ubyte").write_bytes(header)
        (tmp_path / "lying" / f"{part}-labels-idx1-ubyte").write_bytes(header)
    return tmp_path


@pytest.mark.parametrize(("args", "message"), BAD_TRAINING, ids=str)
def test_training(scripts, bad_files, args, message):
    before = files_in(bad_files)
    with pytest.raises(UsageError) as caught:
        scripts.main("train", *args)
    assert message in str(caught.value)
    assert files_in(bad_files) == before


BAD_USE = [
    ("evaluate", [], "Flag --model_dir must have a value other than None"),
    ("evaluate", ["--model_dir=none"], "none holds no trained run"),
    ("evaluate", ["--model_dir=run"], "run holds no trained run"),
    ("evaluate", ["--model_dir=garbled"], "garbled/settings.json is damaged"),
    ("evaluate", ["--model_dir=run", "--eval_batch_size=0"], "eval_batch_size=0"),
    ("predict", ["--model_dir=run"], "Flag --images must have a value other than None"),
    ("predict", ["--model_dir=none", "--images=x"], "none holds no trained run"),
    ("export", ["--model_dir=run"], "Flag --export_dir must have a value other than None"),
    ("export", ["--model_dir=run", "--export_dir=e"], "run holds no trained run"),
    ("evaluate", ["--model_dir=torn_run"], "No checkpoint in torn_run can be read: model.ckpt-5"),
    ("predict", ["--model_dir=torn_run", "--images=x"], "No checkpoint in torn_run can be read"),
    ("export", ["--model_dir=torn_run", "--export_dir=e"], "No checkpoint in torn_run can be"),
]


@pytest.mark.parametrize(("script", "args", "message"), BAD_USE, ids=str)
def test_use_of_a_run(scripts, bad_files, script, args, message):
    before = files_in(bad_files)
    with pytest.raises(UsageError) as caught:
        scripts.main(script, *args)
    assert message in str(caught.value)
    assert files_in(bad_files) == before


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            ["--learning_rate=nan"],
            "train.py: error: flag --learning_rate=nan: learning_rate=nan cannot be used: "
            "give a finite number > 0\n",
        ),
        (
            ["--model_dir=run"],
            "train.py: error: run holds a run with --model=mlp, not cnn: give --model=mlp or "
            "another --model_dir\n",
        ),
    ],
)
def test_the_process_ends_with_one_line_and_code_1(scripts, bad_files, args, line):
    assert scripts.run("train", *args) == (1, "", line)
