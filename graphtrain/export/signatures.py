"""From what a request feeds and a model answers to the signatures of a SavedModel."""

import tensorflow as tf

from graphtrain.errors import UsageError
from graphtrain.optimize import graph_walk

tf1 = tf.compat.v1


def build(receiver, export_outputs):
    """Returns the signatures that can be served; the log says which cannot, and why.

    Args:
      receiver: `ServingInputReceiver` or `TensorServingInputReceiver`.
      export_outputs: dict of signature name to `ExportOutput`.

    Returns:
      Dict of name to `SignatureDef`. An alternative receiver's signatures are named
      "RECEIVER:OUTPUT".

    Raises:
      UsageError: none can be served.
    """
    receivers = {"": receiver.receiver_tensors, **(receiver.receiver_tensors_alternatives or {})}
    signatures, refused = {}, {}
    for receiver_name, receiver_tensors in receivers.items():
        for output_name, output in export_outputs.items():
            name = f"{receiver_name}:{output_name}" if receiver_name else output_name
            try:
                signature = output.as_signature_def(receiver_tensors)
                _check_fed(signature, receiver_tensors)
            except UsageError as error:
                refused[name] = error
            else:
                signatures[name] = signature
    for name, error in refused.items():
        tf1.logging.info("signature %r is not exported: %s", name, error)
    if not signatures:
        reasons = " ".join(f"{name!r}: {error}" for name, error in refused.items())
        raise UsageError(f"No signature of the model can be served. {reasons}")
    tf1.logging.info("signatures exported: %s", ", ".join(sorted(signatures)))
    return signatures


def _check_fed(signature, receiver_tensors):
    """Refuses outputs that need a placeholder which no request can feed."""
    graph = tf1.get_default_graph()
    components = tf.nest.flatten(list(receiver_tensors.values()), expand_composites=True)
    fed = {tensor.op.name for tensor in components}
    unfed = [op for op in graph.get_operations() if op.name not in fed]
    outputs = [
        graph.get_tensor_by_name(info.name).op for info in signature.outputs.values() if info.name
    ]
    needed = graph_walk.ancestors(outputs, within={op.name for op in unfed})
    missing = [op.name for op in unfed if op.name in needed and op.type == "Placeholder"]
    if missing:
        raise UsageError(
            f"The outputs {sorted(signature.outputs)} need the placeholder {missing[0]!r}, which "
            f"is not among the receiver tensors {sorted(receiver_tensors)}."
        )
