"""Whole models as their users write them, run by both frameworks: `python -m tests.models --paddle PYTHON`."""
