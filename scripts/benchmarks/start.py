"""The case `start`: from the command to the first training step, against importing TensorFlow."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

from benchmarks import report, timing

TRAIN = pathlib.Path(__file__).parents[1] / "train.py"
RUNS = {
    "CNN": ["--model=cnn", "--train_step=normal"],
    "CNN, line search": ["--model=cnn", "--train_step=line_search"],
    "MLP": ["--model=mlp", "--train_step=normal"],
}
_TARGETS = {"CNN": {"at_most": 1500}}
_IMPORT = "import tensorflow"
# Runs the script in a process that tells what it imported beyond TensorFlow.
_PACKAGES = """
import runpy, sys
import tensorflow
packages = lambda: {name.partition(".")[0] for name in sys.modules}
before = packages()
sys.argv = sys.argv[1:]
sys.path[0] = sys.argv[0].rpartition("/")[0]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    print(*sorted(packages() - before))
"""


def measure(*, batch_size, repeats, runs=tuple(RUNS), warm_up_calls=1):
    """Times processes, and lists what a run imports that `import tensorflow` does not.

    Args:
      batch_size: images in a batch.
      repeats: how often each is timed.
      runs: which of `RUNS`.
      warm_up_calls: how often each is called before.

    Returns:
      A list of figures.
    """
    flags = [f"--batch_size={batch_size}", "--max_steps=1"]
    measures = {_IMPORT: _seconds_of_import}
    for name in runs:
        measures[name] = lambda name=name: _seconds_to_first_step([*RUNS[name], *flags])
    seconds = timing.in_turn(measures, repeats=repeats, warm_up_calls=warm_up_calls)
    figures = [report.milliseconds(_IMPORT, seconds, lambda t: t[_IMPORT])]
    for name in runs:
        figures.append(
            report.milliseconds(
                f"{name}: command to first step", seconds, lambda t, name=name: t[name]
            )
        )
        figures.append(
            report.milliseconds(
                f"{name}: command to first step - {_IMPORT}",
                seconds,
                lambda t, name=name: t[name] - t[_IMPORT],
                **_TARGETS.get(name, {}),
            )
        )
    more = _packages_of_run([*RUNS[runs[0]], *flags])
    print(f"packages beyond those of `{_IMPORT}`: {' '.join(more)}")
    unused = len({"keras", "tf_keras"}.intersection(more))
    return [*figures, report.Figure("imports of Keras", "packages", unused, unused, at_most=0)]


def _environment():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    # A warm start finds its byte code.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _seconds_of_import():
    return _seconds_to_line(["-c", f"{_IMPORT}; print('imported', flush=True)"], "imported")


def _seconds_to_first_step(flags):
    with tempfile.TemporaryDirectory() as directory:
        return _seconds_to_line([str(TRAIN), *flags, f"--model_dir={directory}/run"], "step 1/1,")


def _seconds_to_line(arguments, beginning):
    """Starts Python and ends it as soon as it prints a line that begins so."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *arguments],
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        for line in process.stdout:
            if line.startswith(beginning):
                seconds = time.perf_counter() - began
                process.kill()
                return seconds
    raise RuntimeError(f"python {' '.join(arguments)} did not print {beginning!r}")


def _packages_of_run(flags):
    """Names of the packages that a run imports beyond those of TensorFlow, a list."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            [sys.executable, "-c", _PACKAGES, str(TRAIN), *flags, f"--model_dir={directory}/run"],
            env=_environment(),
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    return done.stdout.splitlines()[-1].split()
