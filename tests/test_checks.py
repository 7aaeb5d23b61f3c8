import math

import numpy as np
import pytest

from graphtrain import checks
from graphtrain.errors import UsageError


def test_values_within_bounds():
    assert checks.real("rate", np.float32(0.5), above=0, at_most=1) == 0.5
    assert checks.real("rate", 1, above=0, at_most=1) == 1.0
    assert checks.real("rate", -3.0) == -3.0
    assert checks.whole("steps", np.int64(3)) == 3
    assert checks.whole("steps", 0, at_least=0) == 0
    assert checks.one_of("kind", "a", ("a", "b")) == "a"


@pytest.mark.parametrize("value", [0, 1.01, math.nan, math.inf, "1", None, True])
def test_the_message_of_a_bad_number(value):
    with pytest.raises(UsageError) as error:
        checks.real("rate", value, above=0, at_most=1)
    assert str(error.value) == (f"rate={value!r} cannot be used: give a finite number > 0 and <= 1")


@pytest.mark.parametrize("value", [0, 1.5, math.nan, math.inf, "1", None, True])
def test_the_message_of_a_bad_whole_number(value):
    with pytest.raises(UsageError) as error:
        checks.whole("steps", value)
    assert str(error.value) == f"steps={value!r} cannot be used: give a whole number >= 1"


def test_the_message_of_a_bad_name():
    with pytest.raises(UsageError) as error:
        checks.one_of("kind", "c", ("a", "b"))
    assert str(error.value) == "kind='c' cannot be used: choose one of 'a', 'b'"
