"""The cases that time training loops, for a few steps each."""

import importlib
import pathlib

import pytest

from graphtrain.errors import UsageError


@pytest.fixture
def peers(scripts):
    return importlib.import_module("benchmarks.peers")


@pytest.fixture
def old_python(peers, monkeypatch, tmp_path):
    """A function that makes an interpreter which only runs a line of shell."""
    monkeypatch.setattr(peers, "OLD_ESTIMATOR_STEPS", {"softmax": 4})

    def make(line):
        path = pathlib.Path(tmp_path, "python")
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)
        return str(path)

    return make


def test_loop(scripts):
    loop = importlib.import_module("benchmarks.loop")
    figures = loop.measure(batch_size=2, repeats=1, models=["softmax"], steps=3)
    assert [(f.measure, f.at_most) for f in figures] == [
        ("softmax: step of the bare loop", None),
        ("softmax: steps_per_run=1 / bare", 1.15),
        ("softmax: steps_per_run=100 / bare", 0.5),
        ("softmax, searched: step of the bare loop", None),
        ("softmax, searched: steps_per_run=1 / bare", None),
        ("softmax, searched: steps_per_run=100 / bare", None),
    ]


def test_peers(peers):
    figures = peers.measure(batch_size=2, repeats=1, models=["mlp"], steps=3)
    assert [(f.measure, f.at_least) for f in figures[1:]] == [
        ("mlp: fit, steps_per_execution=1 / ours, steps_per_run=1", 1.0),
        ("mlp: fit, steps_per_execution=1 / ours, steps_per_run=100", 1.0),
        ("mlp: fit, steps_per_execution=100 / ours, steps_per_run=1", 1.0),
        ("mlp: fit, steps_per_execution=100 / ours, steps_per_run=100", 1.0),
        ("mlp: article / ours, steps_per_run=1", 3.0),
        ("mlp: article / ours, steps_per_run=100", 4.0),
    ]


def test_the_old_estimator_is_a_peer_where_its_python_is_given(peers, old_python):
    python = old_python('echo "secs per step: 7200"')
    figures = peers.measure(
        batch_size=2, repeats=1, models=["softmax"], steps=2, estimator_python=python
    )
    ratio = next(f for f in figures if f.measure.startswith("softmax: tf.estimator / ours"))
    assert ratio.at_least == 1.0
    assert ratio.median > 7200


def test_a_python_without_the_old_estimator_is_one_clear_error(peers, old_python):
    python = old_python("echo no module named tensorflow >&2; exit 1")
    with pytest.raises(UsageError, match="ended with .'no module named tensorflow'.; give the"):
        peers.measure(batch_size=2, repeats=1, models=["softmax"], steps=2, estimator_python=python)


def test_settings(scripts):
    settings = importlib.import_module("benchmarks.settings")
    step, *ratios = settings.measure(batch_size=2, repeats=1, models=["mlp"], steps=2)
    assert step.median > 0
    assert [f.measure for f in ratios] == [
        f"mlp: {name} / defaults" for name in settings.SETTINGS if name != "defaults"
    ]


def test_growth(scripts):
    growth = importlib.import_module("benchmarks.growth")
    figures = growth.measure(
        batch_size=2, repeats=1, batch_sizes=(1, 2), parameters=(40_000, 160_000), variables=(1, 2)
    )
    assert [f.measure.partition(", law")[0] for f in figures] == [
        *("batch of 1", "batch of 2", "batch of n"),
        *("weights: 40,000", "weights: 160,000", "weights: n"),
        *("saved weights: 40,000", "saved weights: 160,000", "saved weights: n"),
        *("checkpoint of 40,000 weights", "checkpoint of 160,000 weights"),
        *("variables: 1", "variables: 2", "variables: n"),
    ]
    # Four bytes a weight, and what says where they are.
    sizes = [f.median for f in figures if f.measure.startswith("checkpoint of")]
    assert sizes[1] - sizes[0] == pytest.approx((160_000 - 40_000) * 4 / 1e6)
