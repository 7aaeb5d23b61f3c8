"""How a test calls a script: in this process by its main, or as a process of its own."""

import importlib
import os
import pathlib
import subprocess
import sys

import pytest
from absl import flags as absl_flags

import graphtrain
from graphtrain import app

SCRIPTS = pathlib.Path(__file__).parents[2] / "scripts"


class Scripts:
    """The scripts of the clone, with the graphtrain that this process has."""

    def main(self, name, *args):
        """Runs a script's main in this process."""
        script = importlib.import_module(name)
        values = absl_flags.FlagValues()
        script.define_flags(values)
        return script.main(app.parse([f"{name}.py", *args], values))

    def start(self, name, *args):
        """Starts a script as a process."""
        root = pathlib.Path(graphtrain.__file__).parents[1]
        return subprocess.Popen(
            [sys.executable, str(SCRIPTS / f"{name}.py"), *args],
            env={**os.environ, "PYTHONPATH": str(root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, name, *args):
        """Runs a script as a process; returns exit code, stdout and stderr."""
        process = self.start(name, *args)
        stdout, stderr = process.communicate()
        return process.returncode, stdout, stderr


@pytest.fixture(scope="session")
def scripts():
    """The scripts, which import each other by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPTS)
        yield Scripts()
