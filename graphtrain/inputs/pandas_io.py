"""An input_fn from pandas tables."""

from graphtrain.errors import UsageError
from graphtrain.inputs.batches import Batches, check_lengths


def pandas_input_fn(
    x,
    y=None,
    batch_size=128,
    num_epochs=1,
    shuffle=None,
    queue_capacity=1000,
    num_threads=1,
    target_column="target",
):
    """Makes an input_fn of a pandas DataFrame.

    Args:
      x: `DataFrame` of n rows: the features, by the names of its columns.
      y: `Series` or `DataFrame` with the index of `x`: the labels; None if there are none.
      batch_size: examples in a batch, a whole number >= 1.
      num_epochs: how often each row comes; None is without end.
      shuffle: bool, whether each epoch has a random order of its own, drawn from the graph's
        seed (`RunConfig.tf_random_seed`; 0 if it has none). It must be given.
      queue_capacity: accepted and not used: there is no queue; a shuffle mixes all rows.
      num_threads: accepted and not used.
      target_column: str, the name of the labels, which no column of `x` may have.

    Returns:
      A function without arguments that returns (features, labels), or the features alone if `y`
      is None. Features are a dict of column to tensor [batch]; labels a tensor [batch], or such
      a dict if `y` is a DataFrame.

    Raises:
      ImportError: pandas is not installed.
      UsageError: `shuffle` is no bool, `x` has a column of the labels' name, the indices of `x`
        and `y` differ, there are no rows, or a number is not >= 1.
      TypeError: `x`, `y` or `target_column` is of another type.

    Example:
      >>> pandas = _pandas()
      >>> x = pandas.DataFrame({"age": [1.0, 2.0, 3.0]})
      >>> y = pandas.Series([0, 1, 1])
      >>> features, labels = pandas_input_fn(x, y, batch_size=2, shuffle=False)()
      >>> with graphtrain.MonitoredTrainingSession() as session:
      ...     session.run([features["age"], labels])
      [array([1., 2.]), array([0, 1])]
    """
    del queue_capacity, num_threads
    pandas = _pandas()
    batches = Batches(batch_size, num_epochs, shuffle)
    if not isinstance(target_column, str):
        raise TypeError(f"target_column must be a str, got {target_column!r}.")
    if not isinstance(x, pandas.DataFrame):
        raise TypeError(f"x must be a pandas.DataFrame, got {type(x).__name__}.")
    if y is not None:
        _check_labels(pandas, x, y, target_column)
    features = {column: x[column].to_numpy() for column in x.columns}
    labels = _arrays_of(pandas, y)
    if not features:
        raise UsageError("x has no columns, so there are no features.")
    check_lengths({f"x[{column!r}]": array for column, array in features.items()})

    def input_fn():
        return batches.of(features if labels is None else (features, labels))

    return input_fn


def _pandas():
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "pandas_input_fn needs pandas, which is not installed: pip install 'graphtrain[pandas]'"
        ) from error
    return pandas


def _check_labels(pandas, x, y, target_column):
    if not isinstance(y, (pandas.Series, pandas.DataFrame)):
        raise TypeError(f"y must be a pandas.Series or a pandas.DataFrame, got {y!r}.")
    names = [target_column] if isinstance(y, pandas.Series) else list(y.columns)
    shared = [name for name in names if name in x.columns]
    if shared:
        raise UsageError(
            f"The labels cannot be named {shared}: x has columns of that name. Choose another "
            "target_column, or rename the columns."
        )
    if not x.index.equals(y.index):
        raise UsageError(
            f"x and y must have the same index, got {x.index} and {y.index}: use reset_index, or "
            "take both from one table."
        )


def _arrays_of(pandas, y):
    if isinstance(y, pandas.DataFrame):
        return {column: y[column].to_numpy() for column in y.columns}
    return None if y is None else y.to_numpy()
