"""The case `cluster` of the benchmark, for a few steps of a small model."""

import importlib
import pathlib

import pytest

import graphtrain


@pytest.mark.slow
def test_a_worker_sends_about_what_it_has_to(scripts, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(graphtrain.__file__).parents[1]))
    cluster = importlib.import_module("benchmarks.cluster")
    figures = cluster.measure(batch_size=8, repeats=5, weights=(90_000,), searches=(False,))
    found = {figure.measure.partition(" weights, ")[2]: figure for figure in figures}
    assert found["2 workers in step: sums over the workers"].median == 3
    assert all(figure.median > 0 for figure in figures)
    for name in ("2 workers in step", "1 ps, 2 workers"):
        assert 0.8 < found[f"{name}: bytes / least"].median < 2
