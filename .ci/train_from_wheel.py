"""Trains a few steps with the graphtrain of an environment, to be run outside the repository."""

import sys
import tempfile

import graphtrain
from graphtrain import datasets, models

assert graphtrain.__file__.startswith(sys.argv[1]), graphtrain.__file__
