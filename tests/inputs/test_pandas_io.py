import sys

import pandas
import pytest
import tiny_batches

from graphtrain import UsageError
from graphtrain.estimator import inputs

X = pandas.DataFrame({"a": [1.5, 2.5, 3.5], "word": ["x", "y", "z"]}, index=[7, 8, 9])
Y = pandas.Series([0, 1, 2], index=X.index)


def test_a_series_of_labels(graph):
    got = tiny_batches.all_of(inputs.pandas_input_fn(X, Y, batch_size=2, shuffle=False)())
    assert [features["a"].tolist() for features, _ in got] == [[1.5, 2.5], [3.5]]
    assert [features["word"].tolist() for features, _ in got] == [[b"x", b"y"], [b"z"]]
    assert [labels.tolist() for _, labels in got] == [[0, 1], [2]]


def test_a_table_of_labels(graph):
    y = pandas.DataFrame({"one": [1, 2, 3], "two": [4, 5, 6]}, index=X.index)
    ((_, labels),) = tiny_batches.all_of(inputs.pandas_input_fn(X, y, shuffle=False)())
    assert {key: value.tolist() for key, value in labels.items()} == {
        "one": [1, 2, 3],
        "two": [4, 5, 6],
    }


def test_no_labels(graph):
    (features,) = tiny_batches.all_of(inputs.pandas_input_fn(X, shuffle=False)())
    assert sorted(features) == ["a", "word"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"shuffle": None}, UsageError, "shuffle=None cannot be used"),
        ({"x": [1, 2]}, TypeError, "x must be a pandas.DataFrame, got list"),
        ({"y": [1, 2, 3]}, TypeError, "y must be a pandas.Series or a pandas.DataFrame"),
        ({"y": Y.reset_index(drop=True)}, UsageError, "must have the same index"),
        ({"target_column": "a"}, UsageError, r"labels cannot be named \['a'\]"),
        ({"y": X}, UsageError, r"labels cannot be named \['a', 'word'\]"),
        ({"target_column": ("a",)}, TypeError, "target_column must be a str"),
        ({"x": X[:0], "y": None}, UsageError, "There are no examples"),
        ({"x": X[[]], "y": None}, UsageError, "x has no columns"),
    ],
)
def test_what_cannot_be_used(arguments, error, message):
    with pytest.raises(error, match=message):
        inputs.pandas_input_fn(**{"x": X, "y": Y, "shuffle": False, **arguments})


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'graphtrain\[pandas\]'"):
        inputs.pandas_input_fn(X, Y, shuffle=False)
