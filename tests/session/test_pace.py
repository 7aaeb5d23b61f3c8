"""How many steps a run makes."""

import pytest

from graphtrain.session.pace import Pace


def pace_after(step_secs, overhead_secs):
    """The pace found on a machine of these speeds."""
    now = [0.0]
    pace = Pace("auto", clock=lambda: now[0])
    for _ in range(20):
        steps = pace.most_steps

        def make(steps=steps):
            now[0] += overhead_secs + steps * step_secs

        pace.timed(steps, make)
    return pace.most_steps


@pytest.mark.parametrize(
    ("step_secs", "overhead_secs", "steps"),
    [
        # 49 overheads of 0.3 ms are 2 % of what 147 steps of 0.1 ms and one overhead take.
        (1e-4, 3e-4, 147),
        (1e-2, 3e-4, 2),
        # A run takes no longer than a second.
        (0.1, 0.5, 10),
        (5.0, 1.0, 1),
        (1e-3, 0.0, 1),
    ],
)
def test_auto_keeps_the_overhead_under_two_percent(step_secs, overhead_secs, steps):
    assert pace_after(step_secs, overhead_secs) == steps


def test_a_number_stays(tmp_path):
    pace = Pace(7)
    assert pace.timed(7, lambda: "done") == "done"
    assert pace.most_steps == 7
