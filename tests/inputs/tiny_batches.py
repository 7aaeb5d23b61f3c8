"""What the tests of input_fns share."""

import graphtrain


def all_of(tensors, *, limit=None):
    """The batches of the default graph's input, until it ends or there are `limit`."""
    batches = []
    with graphtrain.MonitoredTrainingSession() as session:
        while not session.should_stop() and len(batches) != limit:
            batches.append(session.run(tensors))
    return batches
