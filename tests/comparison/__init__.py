"""The differential cases run with vitrify and with PaddlePaddle: `python -m tests.comparison --paddle PYTHON`."""
