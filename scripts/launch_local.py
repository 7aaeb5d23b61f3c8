"""Starts a cluster on this machine: one command, once for each process, with TF_CONFIG set.

python scripts/launch_local.py --workers=2 --ps=1 -- python scripts/train.py --train_step=normal
"""

import argparse
import signal
import sys

import _quiet  # noqa: F401

from graphtrain.distribute.local_cluster import LocalProcesses, tf_configs
from graphtrain.errors import UsageError


def main(argv):
    own, command = _split(argv)
    parser = argparse.ArgumentParser(
        prog="launch_local.py",
        usage="launch_local.py [--workers=N] [--ps=N] [--evaluator] [--keep_going] -- COMMAND ...",
        allow_abbrev=False,
    )
    parser.add_argument("--workers", type=int, default=1, help="processes that train")
    parser.add_argument("--ps", type=int, default=0, help="parameter servers")
    parser.add_argument("--evaluator", action="store_true", help="start an evaluator too")
    parser.add_argument(
        "--keep_going", action="store_true", help="let the others go on when one has failed"
    )
    parser.add_argument(
        "--grace_secs", type=float, default=30, help="how long a process may take to end"
    )
    values = parser.parse_args(own)
    if not command:
        raise UsageError("there is no command: write it after --, such as -- python train.py")
    processes = LocalProcesses(
        command,
        tf_configs(workers=values.workers, ps=values.ps, evaluator=values.evaluator),
        write=lambda line: print(line, flush=True),
        grace_secs=values.grace_secs,
        keep_going=values.keep_going,
    )
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: processes.send(number)) for number in numbers]
    try:
        return processes.run()
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _split(argv):
    at = argv.index("--") if "--" in argv else len(argv)
    return argv[:at], argv[at + 1 :]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UsageError as mistake:
        print(f"launch_local.py: error: {mistake}", file=sys.stderr)
        sys.exit(1)
