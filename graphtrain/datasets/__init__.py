"""Loaders of the data sets that the scripts know, and the embedded sample."""
