"""The graph modes that tests run in."""

import contextlib
import dataclasses

import tensorflow as tf

tf1 = tf.compat.v1


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
