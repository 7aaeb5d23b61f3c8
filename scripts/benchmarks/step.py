"""The case `step`: what a searched step costs, and each further trial of it."""

from benchmarks import contender, graph_steps, report, timing


def measure(*, batch_size, repeats, trials=5):
    """Times the article's CNN.

    Args:
      batch_size: images in the batch.
      repeats: how often each is timed.
      trials: how many trials the longer search makes.

    Returns:
      A list of figures.
    """
    contenders = {
        ("forward", 0): graph_steps.forward(batch_size),
        ("sgd", 0): graph_steps.sgd(batch_size),
        ("ours", 1): graph_steps.searched(batch_size, 1),
        ("ours", trials): graph_steps.searched(batch_size, trials),
    }
    contender.check_trials(contenders)
    runs = {key: rival.run for key, rival in contenders.items()}
    seconds = timing.paired(runs, repeats=repeats)
    contender.check_trials(contenders)

    def forward(times):
        return times["forward", 0]

    def sgd(times):
        return times["sgd", 0]

    def first(times):
        return times["ours", 1]

    def further(times):
        return (times["ours", trials] - first(times)) / (trials - 1)

    return [
        report.milliseconds("forward pass", seconds, forward),
        report.milliseconds("plain SGD step", seconds, sgd),
        report.milliseconds("line-search step, first trial accepted", seconds, first),
        report.milliseconds("further trial", seconds, further),
        report.ratio(
            "line-search step / SGD step", seconds, lambda t: first(t) / sgd(t), at_most=1.5
        ),
        report.ratio(
            "further trial / forward pass", seconds, lambda t: further(t) / forward(t), at_most=1.3
        ),
    ]
