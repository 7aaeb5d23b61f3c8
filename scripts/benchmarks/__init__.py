"""The cases of scripts/benchmark.py: one file each, and what they share."""
