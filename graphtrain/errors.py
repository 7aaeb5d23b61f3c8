"""The errors that graphtrain raises for what its user gave it."""


class UsageError(ValueError):
    """A value, a file or a combination of them that graphtrain cannot use.

    The message quotes the bad value, says what is allowed and what to do. Scripts print
    it as one line and exit with a non-zero code.
    """


class DataError(UsageError):
    """A data file that is missing, damaged or not what its name says."""


class WorkerLostError(RuntimeError):
    """Another worker of a synchronous training is gone, so that no step can be made.

    Started again, all workers together, the training goes on from the last checkpoint. Scripts
    print the message and exit with `exit_code`.
    """

    exit_code = 76
