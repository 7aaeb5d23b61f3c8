import importlib


def test_an_estimator_is_timed_against_a_bare_loop(scripts):
    estimator = importlib.import_module("benchmarks.estimator")
    bare, ours, ratio = estimator.measure(batch_size=2, repeats=2, steps=5)
    assert bare.median > 0 and ours.median > 0
    assert ratio.at_most == 1.15
