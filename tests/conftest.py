"""Fixtures that every test may use: a fresh graph in each graph mode."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import contextlib
import dataclasses
import pathlib

import pytest
import tensorflow as tf

tf1 = tf.compat.v1
GOLDEN = pathlib.Path(__file__).parent / "golden"


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes more than 20 seconds (CI runs it all the same)")
    config.addinivalue_line("filterwarnings", "error:::graphtrain")


@dataclasses.dataclass(frozen=True)
class GraphMode:
    """How TensorFlow builds loops and variables."""

    control_flow_v2: bool
    resource_variables: bool

    def __str__(self):
        flow = "cf2" if self.control_flow_v2 else "cf1"
        return f"{flow}-{'resource' if self.resource_variables else 'ref'}"

    @contextlib.contextmanager
    def switched_on(self):
        """Switches TensorFlow to this mode, then back."""
        flow, resource = tf1.control_flow_v2_enabled(), tf1.resource_variables_enabled()
        _switch(self.control_flow_v2, self.resource_variables)
        try:
            yield
        finally:
            _switch(flow, resource)


def _switch(control_flow_v2, resource_variables):
    (tf1.enable_control_flow_v2 if control_flow_v2 else tf1.disable_control_flow_v2)()
    (tf1.enable_resource_variables if resource_variables else tf1.disable_resource_variables)()


GRAPH_MODES = [GraphMode(flow, res) for flow in (True, False) for res in (True, False)]
FLOW_MODES = [GraphMode(True, True), GraphMode(False, True)]


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
