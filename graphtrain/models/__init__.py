"""Model functions to start from, and the Keras-free layers that they are made of."""
