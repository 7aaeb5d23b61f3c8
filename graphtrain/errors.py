"""The errors that graphtrain raises for what its user gave it."""


class UsageError(ValueError):
    """A value, a file or a combination of them that graphtrain cannot use.

    The message quotes the bad value, says what is allowed and what to do. Scripts print
    it as one line and exit with a non-zero code.
    """


class DataError(UsageError):
    """A data file that is missing, damaged or not what its name says."""
