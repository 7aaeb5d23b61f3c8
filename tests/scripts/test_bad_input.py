"""A user's mistake: one line that says what to do, and nothing changed on disk."""

import json

import hostile_files
import pytest
import tensorflow as tf

from graphtrain.errors import UsageError

tf1 = tf.compat.v1


def files_in(directory):
    """Every file below a directory, with its content."""
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def write_run(model_dir, **settings):
    """The settings file of a run, without a checkpoint."""
    model_dir.mkdir()
    content = {"model": "mlp", "optimizer": "adam", "data": "sample", "data_dir": None, **settings}
    (model_dir / "settings.json").write_text(json.dumps(content))


def write_checkpoint_of_another_model(model_dir):
    with tf.Graph().as_default(), tf1.Session() as session:
        session.run(tf1.train.create_global_step().initializer)
        tf1.train.Saver().save(session, str(model_dir / "model.ckpt"), global_step=3)


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
    (["--max_steps=1", "--max_steps=2"], "flag --max_steps=2: already defined as 1"),
    (["--learning_rate=0"], "learning_rate=0.0 cannot be used: give a finite number > 0"),
    (["--learning_rate=-1"], "learning_rate=-1.0 cannot be used: give a finite number > 0"),
    (["--learning_rate=fast"], "learning_rate='fast' cannot be used: give a finite number > 0"),
    (["--learning_rate=1e999"], "learning_rate=inf cannot be used: give a finite number > 0"),
    (["--learning_rate=0.1", "--learning_rate=0.2"], "flag --learning_rate=0.2: already defined a"),
    (["--optimizer=sdg"], "flag --optimizer=sdg: value should be one of <sgd|momentum|nesterov|ad"),
    (["--model=rnn"], "flag --model=rnn: value should be one of <mlp|cnn>"),
    (["--data=imagenet"], "flag --data=imagenet: value should be one of <sample|mnist|fashion_mni"),
    (["--train_step=search"], "flag --train_step=search: value should be one of <normal|line_sear"),
    (["--shrink=1"], "shrink=1.0 cannot be used: give a finite number > 0 and < 1"),
    (["--shrink=0"], "shrink=0.0 cannot be used: give a finite number > 0 and < 1"),
    (["--min_learning_rate=0.5"], "--min_learning_rate must not be above the learning rate, 0.1"),
    (["--on_failure=ignore"], "flag --on_failure=ignore: value should be one of <restore|keep_las"),
    (["--batch_size=0"], "batch_size=0.0 cannot be used: give a whole number >= 1"),
    (["--batch_size=2.5"], "batch_size=2.5 cannot be used: give a whole number >= 1"),
    (["--eval_batch_size=-1"], "eval_batch_size=-1.0 cannot be used: give a whole number >= 1"),
    (["--dropout_rate=1"], "dropout_rate=1.0 cannot be used: give a finite number >= 0 and < 1"),
    (["--model=mlp", "--batch_norm_momentum=0.9"], "--batch_norm_momentum has no effect on an mlp"),
    (["--batch_norm_momentum=1"], "batch_norm_momentum=1.0 cannot be used: give a finite number >"),
    (["--seed=-1"], "seed=-1.0 cannot be used: give a whole number >= 0"),
    (["--log_steps=0"], "log_steps=0.0 cannot be used: give a whole number >= 1"),
    (["--save_summary_steps=0"], "save_summary_steps=0.0 cannot be used: give a whole number >= 1"),
    (["--profile_steps=5-4"], "profile_steps='5-4' cannot be used: give the first and the last st"),
    (["--profile_steps=now"], "profile_steps='now' cannot be used: give the first and the last st"),
    (["--steps_per_run=0"], "steps_per_run=0.0 cannot be used: give a whole number >= 1"),
    (["--steps_per_run=all"], "steps_per_run='all' cannot be used: give a whole number >= 1"),
    (["--intra_op_threads=0"], "intra_op_threads=0.0 cannot be used: give a whole number >= 1"),
    (
        ["--save_checkpoints_steps=5", "--save_checkpoints_secs=5"],
        "--save_checkpoints_steps and --save_checkpoints_secs exclude each other: give one of them",
    ),
    (["--decay_steps=5"], "--decay_steps has no effect on a constant learning rate: leave it out,"),
    (["--learning_rate_schedule=step"], "flag --learning_rate_schedule=step: value should be one "),
    (["--learning_rate_schedule=exponential"], "a learning rate schedule that is exponential need"),
    (
        ["--learning_rate_schedule=exponential", "--decay_steps=5"],
        "a learning rate schedule that is exponential needs --decay_rate",
    ),
    (
        ["--learning_rate_schedule=exponential", "--decay_steps=0.5", "--decay_rate=0.5"],
        "decay_steps=0.5 cannot be used: give a whole number >= 1",
    ),
    (
        ["--learning_rate_schedule=exponential", "--decay_steps=5", "--decay_rate=1.5"],
        "decay_rate=1.5 cannot be used: give a finite number > 0 and <= 1",
    ),
    (
        ["--learning_rate_schedule=piecewise", "--boundaries=20,10", "--values=1,2,3"],
        "boundaries=[20.0, 10.0] cannot be used: give one step or more, each greater than the one ",
    ),
    (
        ["--learning_rate_schedule=piecewise", "--boundaries=10", "--values=1"],
        "learning_rates=[1.0] cannot be used with 1 boundaries: give 2 rates, one more than bounda",
    ),
    (
        ["--learning_rate_schedule=piecewise", "--boundaries=ten", "--values=1,2"],
        "could not convert string to float: 'ten'",
    ),
    (
        ["--learning_rate_schedule=cosine", "--decay_steps=5", "--end_learning_rate=0.5"],
        "--end_learning_rate must not be above the learning rate, 0.1",
    ),
    (["--warmup_steps=0"], "warmup_steps=0.0 cannot be used: give a whole number >= 1"),
    (["--learning_rate_on_resume=anew"], "flag --learning_rate_on_resume=anew: value should be on"),
    (["--learn_rate=0.1"], "Unknown command line flag 'learn_rate'. Did you mean: "),
    (["run"], "unexpected word 'run': a flag is written --name=value, and a switch --name or --no"),
    (["--data=mnist", "--data_dir=eleven"], "eleven/mnist.npz (y_test) has a label 11 at position"),
    (["--data=mnist", "--data_dir=halves"], "halves/mnist.npz (y_train) has labels of type float6"),
    (["--data=mnist", "--data_dir=pickled"], "pickled/mnist.npz holds Python objects in x_train.n"),
    (["--data=mnist", "--data_dir=lacking"], "lacking/mnist.npz has no arrays ['y_train', 'x_test"),
    (["--data=mnist", "--data_dir=file"], "file has neither mnist.npz nor all idx files: there is"),
    (["--model_dir=/dev/null/run"], "/dev/null/run cannot be written to: Not a directory"),
    (["--model_dir=/sys/run"], "/sys/run cannot be written to: "),
]


@pytest.fixture(scope="module")
def bad_directory(tmp_path_factory):
    """A directory of damaged and hostile data sets, images and runs; no test changes it."""
    directory = tmp_path_factory.mktemp("bad")
    hostile_files.write_images(directory)
    hostile_files.write_data_sets(directory)
    for name in ("run", "garbled", "torn_run", "locked_run", "trained"):
        write_run(directory / name)
    write_run(directory / "nameless", model=None)
    (directory / "garbled" / "settings.json").write_text('{"model": "ml')
    (directory / "torn_run" / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-5"\n')
    (directory / "torn_run" / "model.ckpt-5.index").write_bytes(b"half an ind")
    (directory / "locked_run" / "train.lock").write_text('{"pid": 7, "host": "elsewhere"}')
    write_checkpoint_of_another_model(directory / "trained")
    return directory


@pytest.fixture
def bad_files(bad_directory, monkeypatch):
    """The same as the working directory."""
    monkeypatch.chdir(bad_directory)
    return bad_directory


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
    ("predict", ["--model_dir=trained", "--images=none"], "none cannot be read: No such file or d"),
    ("predict", ["--model_dir=trained", "--images=run"], "run cannot be read: Is a directory"),
    ("predict", ["--model_dir=trained", "--images=file"], "file is no npz, idx or PNG file: it be"),
    ("predict", ["--model_dir=trained", "--images=text"], "text is no npz, idx or PNG file: it be"),
    (
        "predict",
        ["--model_dir=trained", "--images=pickled.npz"],
        "pickled.npz holds Python objects in images.npy, which are not read: save arrays of number",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=huge.npz"],
        "huge.npz is truncated or damaged: its header promises 1000000000000 bytes of data, more t",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=longer.npz"],
        "longer.npz is damaged: images.npy has 138 bytes, which do not fit its shape (11,) of uint",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=no_array.npz"],
        "no_array.npz is damaged: the magic string is not correct; expected b'\\x93NUMPY', got b'n",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=several.npz"],
        "several.npz has several arrays, ['a', 'b']: name the images 'images', or save nothing els",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=floats.npz"],
        "floats.npz (images) has images of type float64: uint8, 0 to 255, is wanted",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=wide.npz"],
        "wide.npz (images) has images of shape (1, 28, 29): (n, 28, 28) is wanted",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=none.npz"],
        "none.npz (images) has no images: it is empty",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=huge.idx"],
        "huge.idx is truncated or damaged: its header promises 1683627180032 bytes of data, more t",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=short.idx"],
        "short.idx is truncated or damaged: its header promises 1568 bytes of data, more than its ",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=long.idx"],
        "long.idx is truncated or damaged: its header promises 784 bytes of data, and there are mo",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=axes.idx"],
        "axes.idx is damaged: maximum supported dimension",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=bomb.idx.gz"],
        "bomb.idx.gz is truncated or damaged: its header promises 129127208515966861312 bytes of d",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=cut.idx.gz"],
        "cut.idx.gz is damaged: Compressed file ended before the end-of-stream marker was reached",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=huge.png"],
        "huge.png is 1000000 pixels wide and 1000000 high: scale it to 28 by 28 first",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=cut.png"],
        "cut.png is truncated: it ends within its header",
    ),
    (
        "predict",
        ["--model_dir=trained", "--images=empty.png"],
        "empty.png is a damaged PNG file: it cannot be decoded",
    ),
    ("evaluate", ["--model_dir=trained"], "The checkpoint trained/model.ckpt-3 does not fit the g"),
    (
        "evaluate",
        ["--model_dir=trained", "--data=mnist", "--data_dir=lying"],
        "lying/train-images-idx3-ubyte is truncated or damaged: its header promises 1683627179248 ",
    ),
    ("evaluate", ["--model_dir=trained", "--data=cifar"], "flag --data=cifar: value should be one"),
    (
        "export",
        ["--model_dir=trained", "--export_dir=exported"],
        "The checkpoint trained/model.ckpt-3 does not fit the graph. Missing in the checkpoint: de",
    ),
    (
        "export",
        ["--model_dir=trained", "--export_dir=file"],
        "file cannot be written to: file is not a directory",
    ),
]


@pytest.mark.parametrize(("script", "args", "message"), BAD_USE, ids=str)
def test_use_of_a_run(scripts, bad_files, script, args, message):
    before = files_in(bad_files)
    with pytest.raises(UsageError) as caught:
        scripts.main(script, *args)
    assert message in str(caught.value)
    assert files_in(bad_files) == before


def test_nothing_hostile_was_run(scripts, bad_files):
    """Neither in this process nor in one of its own, which ends as for any other mistake."""
    assert scripts.run("predict", "--model_dir=trained", "--images=pickled.npz") == (
        1,
        "",
        "predict.py: error: pickled.npz holds Python objects in images.npy, which are not read: "
        "save arrays of numbers\n",
    )
    assert not (bad_files / "code_was_run").exists()


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
