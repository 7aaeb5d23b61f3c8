"""Imports TensorFlow quietly. A script imports this before anything of TensorFlow's.

TensorFlow 2.21 writes lines of information to stderr whenever it is imported, whatever
TF_CPP_MIN_LOG_LEVEL says; a script's own lines, errors above all, would drown in them.
"""

import contextlib
import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


@contextlib.contextmanager
def _stderr_held_back():
    """Drops what is written to stderr, by C++ code too; shows it if an exception comes."""
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as held_back:
        os.dup2(held_back.fileno(), 2)
        try:
            yield
        except BaseException:
            held_back.seek(0)
            os.write(stderr, held_back.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)


with _stderr_held_back():
    import tensorflow as tf

# absl's handler writes the messages; TensorFlow's own would write each a second time.
for handler in list(tf.get_logger().handlers):
    tf.get_logger().removeHandler(handler)


_TENSORFLOWS_DEPRECATION = os.path.join("tensorflow", "python", "util", "deprecation.py")


def _concerns_the_user(record):
    # TensorFlow warns of deprecated calls between its own modules, and, when two of its reads
    # of the step race, of a step that did not rise; our training loop checks the rise exactly.
    is_theirs = record.pathname.endswith(_TENSORFLOWS_DEPRECATION)
    return not is_theirs and "It seems that global step" not in str(record.msg)


tf.get_logger().addFilter(_concerns_the_user)
