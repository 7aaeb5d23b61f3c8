"""Trains a few steps with the graphtrain of the given environment, outside the repository."""

import sys

import graphtrain

assert graphtrain.__file__.startswith(sys.argv[1]), graphtrain.__file__
