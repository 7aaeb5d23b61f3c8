"""Fixtures that every test may use: a fresh graph in each graph mode."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import pathlib

import pytest
import tensorflow as tf
from graph_modes import FLOW_MODES, GRAPH_MODES

tf1 = tf.compat.v1
GOLDEN = pathlib.Path(__file__).parent / "golden"


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than 20 seconds (CI runs it all the same)")
    config.addinivalue_line("filterwarnings", "error:::graphtrain")


@pytest.fixture(autouse=True)
def no_graph_left_as_default():
    """Fails a test that leaves a default graph behind, which the next one would build into."""
    yield
    assert tf.executing_eagerly(), "the test has left a default graph behind"


@pytest.fixture
def graph():
    """A fresh default graph, in TensorFlow's own default mode."""
    with tf.Graph().as_default() as new_graph:
        yield new_graph


@pytest.fixture(params=GRAPH_MODES, ids=str)
def graph_mode(request):
    """Each of the four graph modes, with a fresh default graph."""
    with request.param.switched_on(), tf.Graph().as_default():
        yield request.param


@pytest.fixture(params=FLOW_MODES, ids=str)
def flow_mode(request):
    """Control flow v1 and v2 with resource variables, with a fresh default graph."""
    with request.param.switched_on(), tf.Graph().as_default():
        yield request.param
