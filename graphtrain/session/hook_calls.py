"""What hooks may define beside TensorFlow's methods, and whose fault a finalized graph is.

A session hook of any class may have `on_session(session)`, which is called once, before its
`begin`, with the `MonitoredSession` itself (TensorFlow's methods are given the bare session
inside it); and `on_error(error)`, which is called once, before the session is closed because of
an error, whichever hook, op or line of the loop raised it.
"""

import contextlib
import traceback

import tensorflow as tf

tf1 = tf.compat.v1

_FINALIZED = "Graph is finalized"


def tell_session(hooks, session):
    """Calls `on_session(session)` of the hooks that define it."""
    for hook in hooks:
        if hasattr(hook, "on_session"):
            hook.on_session(session)


def tell_error(hooks, error):
    """Calls `on_error(error)` of the hooks that define it; what they raise is only logged."""
    for hook in hooks:
        if hasattr(hook, "on_error"):
            try:
                hook.on_error(error)
            except Exception as failure:
                name = type(hook).__name__
                tf1.logging.error("on_error of the hook %s failed itself: %r", name, failure)


@contextlib.contextmanager
def explained(hooks):
    """Raises an error that tells what to do in place of "Graph is finalized"."""
    try:
        yield
    except RuntimeError as error:
        raise_explained(error, hooks)
        raise


def raise_explained(error, hooks):
    """Raises what to do about a finalized graph, if that is what `error` is about.

    Args:
      error: `RuntimeError` that was raised in a hook, or around `session.run`.
      hooks: the hooks of the session.

    Raises:
      RuntimeError: names the op, the hook's class and where to build the op.
    """
    if not str(error).startswith(_FINALIZED):
        return
    hook = _hook_that_raised(error, hooks)
    if hook is None:
        raise RuntimeError(
            f"The graph is finalized, so {_op_refused(error)} cannot be added: build every op "
            "before the session is made."
        ) from error
    raise RuntimeError(
        f"The hook {type(hook).__name__} tried to add {_op_refused(error)} to the graph, which is "
        "finalized once the session is made: build it in the hook's begin(), or before the "
        "session is made; to evaluate or export, use a graph of its own."
    ) from error


def _hook_that_raised(error, hooks):
    known = {id(hook): hook for hook in hooks}
    for frame, _ in traceback.walk_tb(error.__traceback__):
        owner = frame.f_locals.get("self")
        if id(owner) in known:
            return known[id(owner)]
    return None


def _op_refused(error):
    """Describes the op that was refused: TensorFlow's error names none, its call stack does."""
    described = "an op"
    for frame, _ in traceback.walk_tb(error.__traceback__):
        op_type = frame.f_locals.get("op_type", frame.f_locals.get("op_type_name"))
        if isinstance(op_type, str):
            name = frame.f_locals.get("name")
            described = f"the op {name!r} ({op_type})" if isinstance(name, str) else f"a {op_type}"
    return described
