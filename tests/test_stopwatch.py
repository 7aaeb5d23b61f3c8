"""Where the time goes."""

import pytest

from graphtrain.stopwatch import Stopwatch


def test_what_is_inside_is_not_counted_outside():
    times = iter(range(100))
    watch = Stopwatch(clock=lambda: next(times))
    with watch.timing("steps"):
        for _ in range(2):
            with watch.timing("saves"):
                with watch.timing("evaluation"):
                    pass
    with watch.timing("steps"):
        pass
    assert watch.secs == {"steps": 4, "saves": 4, "evaluation": 2}


def test_an_error_ends_what_it_broke_off():
    times = iter(range(100))
    watch = Stopwatch(clock=lambda: next(times))
    with pytest.raises(KeyError), watch.timing("steps"):
        raise KeyError
    with watch.timing("saves"):
        pass
    assert watch.secs == {"steps": 1, "saves": 1}
