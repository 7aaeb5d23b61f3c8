"""A run from its first command to its served model."""

import json
import os
import pathlib
import re
import signal

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing import event_accumulator

from graphtrain import datasets
from graphtrain.session import checkpoints

STEPS = 60
FLAGS = [
    "--model=cnn",
    "--train_step=line_search",
    f"--max_steps={STEPS}",
    "--save_checkpoints_steps=30",
    "--save_summary_steps=20",
    "--log_steps=25",
]


def state_of(directory):
    """Every file below a directory, with its content and the time of its last change."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def scalars(directory):
    """Tag to (step, value) pairs, as TensorBoard reads them, for the scalars of a directory."""
    reader = event_accumulator.EventAccumulator(str(directory))
    reader.Reload()
    tags = reader.Tags()
    found = {tag: [(e.step, e.value) for e in reader.Scalars(tag)] for tag in tags["scalars"]}
    for tag in tags["tensors"]:
        events = reader.Tensors(tag)
        found[tag] = [(e.step, float(tf.make_ndarray(e.tensor_proto))) for e in events]
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory, scripts):
    """A finished run: its directory, and what the command printed."""
    model_dir = tmp_path_factory.mktemp("runs") / "run"
    code, stdout, stderr = scripts.run("train", f"--model_dir={model_dir}", *FLAGS)
    assert (code, stderr) == (0, "")
    return model_dir, stdout


def test_what_a_run_prints(run):
    model_dir, stdout = run
    number = r"[\d.e+-]+"
    patterns = [
        r"cnn on sample: 6000 images, 188 steps an epoch; starting, to step 60",
        r"learning rate 0.1 at step 0, 0.1 at step 60",
        *(
            rf"step {step}/60, loss {number}, learning rate 0.1, \d+ examples/s, 0:00:\d\d left"
            for step in (25, 50, 60)
        ),
        rf"evaluation at step 30: accuracy {number}, loss {number}",
        rf"evaluation at step 60: accuracy {number}, loss {number}",
        rf"test accuracy: {number} at step 60",
        rf"checkpoints:   {model_dir}",
        rf"to see more:   tensorboard --logdir={model_dir}",
    ]
    lines = stdout.splitlines()
    assert len(lines) == len(patterns), stdout
    for pattern in patterns:
        assert any(re.fullmatch(pattern, line) for line in lines), (pattern, stdout)


def test_the_same_command_again_changes_nothing(run, scripts, capsys):
    model_dir, _ = run
    before = state_of(model_dir)
    scripts.main("train", f"--model_dir={model_dir}", *FLAGS)
    assert capsys.readouterr().out == (
        f"{model_dir} is at step 60 of 60: there is nothing left to do.\n"
    )
    assert state_of(model_dir) == before


def test_tensorboard_finds_every_tag_with_each_step_once(run):
    model_dir, _ = run
    train, evaluation = scalars(model_dir), scalars(model_dir / "eval")
    search = {f"line_search/{name}" for name in ("trials", "rejected", "scale")}
    assert set(train) >= {"loss", "accuracy", "learning_rate", "global_step/sec", *search}
    assert set(evaluation) >= {"loss", "accuracy"}
    assert [step for step, _ in evaluation["accuracy"]] == [30, 60]
    for tag, points in [*train.items(), *evaluation.items()]:
        steps = [step for step, _ in points]
        assert steps == sorted(set(steps)), tag
    assert all(value == pytest.approx(0.1) for _, value in train["learning_rate"])


def test_evaluation_agrees_with_the_run(run, scripts, capsys):
    model_dir, stdout = run
    scripts.main("evaluate", f"--model_dir={model_dir}")
    metrics = json.loads(capsys.readouterr().out)
    assert metrics["global_step"] == STEPS
    assert f"test accuracy: {metrics['accuracy']:.4f} at step 60" in stdout


@pytest.fixture
def image_files(tmp_path):
    """The same images in each kind of file, and their arrays."""
    images = datasets.load("sample").test_images[:3]
    np.savez(tmp_path / "digits.npz", images=images)
    header = bytes([0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 28, 0, 0, 0, 28])
    (tmp_path / "digits-idx3-ubyte").write_bytes(header + images.tobytes())
    png = tf.io.encode_png(images[0][..., np.newaxis]).numpy()
    (tmp_path / "digit.png").write_bytes(png)
    return tmp_path, images


def test_predictions_are_the_same_from_every_file_and_from_the_saved_model(
    run, scripts, capsys, image_files
):
    model_dir, _ = run
    directory, images = image_files
    answers = {}
    for name in ("digits.npz", "digits-idx3-ubyte", "digit.png"):
        scripts.main("predict", f"--model_dir={model_dir}", f"--images={directory / name}")
        answers[name] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    by_npz = answers["digits.npz"]
    assert [line["index"] for line in by_npz] == [0, 1, 2]
    assert answers["digits-idx3-ubyte"] == by_npz
    np.testing.assert_allclose(
        answers["digit.png"][0]["probabilities"], by_npz[0]["probabilities"], rtol=1e-5
    )

    scripts.main("export", f"--model_dir={model_dir}", f"--export_dir={directory / 'exported'}")
    path = pathlib.Path(capsys.readouterr().out.strip())
    assert path.parent == directory / "exported"
    served = tf.saved_model.load(str(path)).signatures["serving_default"](
        image=tf.constant(images / 255, tf.float32)
    )
    assert served["class"].numpy().tolist() == [line["class"] for line in by_npz]
    np.testing.assert_array_equal(
        served["probabilities"].numpy(),
        np.array([line["probabilities"] for line in by_npz], np.float32),
    )


def test_predictions_go_to_a_file(run, scripts, capsys, image_files):
    model_dir, _ = run
    directory, _ = image_files
    output = directory / "out.jsonl"
    images = f"--images={directory / 'digits.npz'}"
    scripts.main("predict", f"--model_dir={model_dir}", images, f"--output={output}")
    assert capsys.readouterr().out == ""
    assert len(output.read_text().splitlines()) == 3


def test_a_killed_run_goes_on_to_the_same_step(scripts, tmp_path):
    args = ["--model=mlp", "--train_step=normal", "--optimizer=adam", "--max_steps=3000"]
    args += ["--save_checkpoints_steps=1000", f"--model_dir={tmp_path}"]
    process = scripts.start("train", *args)
    for line in process.stdout:
        if line.startswith("evaluation at step 1000"):
            os.kill(process.pid, signal.SIGKILL)
            break
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    reached = checkpoints.global_step_of(checkpoints.newest(str(tmp_path)))
    assert 1000 <= reached < 3000

    code, stdout, stderr = scripts.run("train", *args)
    assert (code, stderr) == (0, "")
    assert f"continuing at step {reached}, to step 3000" in stdout
    assert checkpoints.global_step_of(checkpoints.newest(str(tmp_path))) == 3000


def test_a_run_that_is_told_to_stop_saves_and_says_how_to_go_on(scripts, tmp_path):
    args = ["--model=mlp", "--train_step=normal", "--optimizer=adam", "--max_steps=100000"]
    process = scripts.start("train", *args, "--log_steps=50", f"--model_dir={tmp_path}")
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("step 50/"):
            process.send_signal(signal.SIGTERM)
    process.wait()
    step = checkpoints.global_step_of(checkpoints.newest(str(tmp_path)))
    assert step >= 50
    assert process.returncode == 75
    assert lines[-1] == f"stopped by SIGTERM at step {step}: the same command goes on there\n"
