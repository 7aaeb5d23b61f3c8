"""How the graph is run: the session, the loop, checkpoints and input."""
