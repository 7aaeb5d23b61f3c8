"""Runs the main of an absl script so that a user's mistake ends in one line."""

import os
import sys

from absl import app, flags, logging

from graphtrain.errors import UsageError, WorkerLostError

_SWITCH_WORDS = {"true": "", "1": "", "yes": "", "false": "no", "0": "no", "no": "no"}


def run(main):
    """Parses `sys.argv`, calls `main(FLAGS)` and ends the process.

    As `absl.app.run`, with three differences: a word that is no flag is an error; a mistake
    of the user's (a bad flag, file or directory) ends with one line on stderr and exit code
    1 instead of a traceback; and without --verbosity only warnings are logged.

    Args:
      main: function of the parsed `flags.FLAGS`; what it returns is the exit code.
    """
    app.run(
        lambda values: _or_exit(lambda: main(values)),
        flags_parser=lambda argv: _or_exit(lambda: _without_info(parse(argv))),
    )


def parse(argv, flag_values=flags.FLAGS):
    """Parses a command line that holds flags only.

    Args:
      argv: list of str, the name of the program first.
      flag_values: the absl FlagValues to fill.

    Returns:
      flag_values.

    Raises:
      UsageError: a flag that is unknown or has a bad value, or a word that is no flag.

    >>> from absl import flags
    >>> values = flags.FlagValues()
    >>> graphtrain.flags.define_data_flags(values)
    >>> parse(["train.py", "--shuffle", "False"], values)
    Traceback (most recent call last):
    graphtrain.errors.UsageError: unexpected word 'False': write --noshuffle
    """
    try:
        words = flag_values(argv)[1:]
    except flags.Error as error:
        raise UsageError(str(error)) from error
    if words:
        raise UsageError(f"unexpected word {words[0]!r}: {_advice(words[0], argv, flag_values)}")
    return flag_values


def _without_info(flag_values):
    # absl would turn on INFO, which TensorFlow writes much of, unless the flag has been set.
    if flag_values["verbosity"].using_default_value:
        flag_values.verbosity = logging.WARNING
    return flag_values


def _advice(word, argv, flag_values):
    before = argv[argv.index(word) - 1].lstrip("-")
    is_switch = before in flag_values and flag_values[before].boolean
    if is_switch and word.lower() in _SWITCH_WORDS:
        return f"write --{_SWITCH_WORDS[word.lower()]}{before}"
    return "a flag is written --name=value, and a switch --name or --noname"


def _or_exit(function):
    try:
        return function()
    except (UsageError, OSError, WorkerLostError) as error:
        message = " ".join(str(error).split())
        print(f"{os.path.basename(sys.argv[0])}: error: {message}", file=sys.stderr)
        sys.exit(getattr(error, "exit_code", 1))
