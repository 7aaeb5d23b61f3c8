"""How one training step is made, in the graph."""
