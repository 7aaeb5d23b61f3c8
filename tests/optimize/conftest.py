"""Fixtures for the tests of the line search."""

import pytest
import tensorflow as tf

tf1 = tf.compat.v1


@pytest.fixture(params=[True, False], ids=["resource", "ref"])
def variables(request):
    """Both kinds of variables; which loops the search is built of follows from them."""
    switch = {True: tf1.enable_resource_variables, False: tf1.disable_resource_variables}
    before = tf1.resource_variables_enabled()
    switch[request.param]()
    yield
    switch[before]()
