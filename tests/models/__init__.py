"""Whole models as their users write them, run by vitrify and by PaddlePaddle: `python -m tests.models --paddle PYTHON`."""
