"""The cases that measure whole processes."""

import importlib

import pytest


def test_the_start_of_a_run_is_timed_and_imports_no_keras(scripts, capsys):
    start = importlib.import_module("benchmarks.start")
    figures = start.measure(batch_size=32, repeats=1, runs=["CNN"], warm_up_calls=0)
    imported, whole, beyond, keras = figures
    assert beyond.median == pytest.approx(whole.median - imported.median)
    assert beyond.at_most == 1500
    assert keras.median == keras.at_most == 0
    assert "graphtrain" in capsys.readouterr().out


def test_the_memory_of_our_loop_is_compared_with_that_of_a_bare_one(scripts):
    memory = importlib.import_module("benchmarks.process_memory")
    figures = memory.measure(
        batch_size=2, repeats=1, model="mlp", steps=3, loops=("bare", "steps_per_run=1")
    )
    bare, ours, ratio = figures
    assert ratio.median == ours.median / bare.median
    assert ratio.at_most == 1.05
