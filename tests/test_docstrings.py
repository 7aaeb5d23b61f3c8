"""The examples in the docstrings run and print what they say."""

import doctest
import importlib
import io
import pkgutil
import sys

import numpy as np
import pytest
import tensorflow as tf

import graphtrain

tf1 = tf.compat.v1
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules():
    """graphtrain and every module in it."""
    found = pkgutil.walk_packages(graphtrain.__path__, prefix="graphtrain.")
    return [graphtrain, *(importlib.import_module(module.name) for module in found)]


def examples():
    """Every docstring of graphtrain that holds an example, with what it may name."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in modules():
        known = {**vars(module), "graphtrain": graphtrain, "np": np, "sys": sys, "tf": tf}
        tests = finder.find(module, module.__name__, globs={**known, "tf1": tf1})
        yield from (test for test in tests if test.examples)


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.name)
def test_example(example, graph, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    result = runner.run(example, out=report.write)
    # It keeps a writer for each path, and the paths here are the same in many examples.
    tf1.summary.FileWriterCache.clear()
    assert result.failed == 0, report.getvalue()
