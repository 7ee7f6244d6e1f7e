# fmt: off
# ruff: noqa
def docstring_only(x):
    """Says something."""
    return x
