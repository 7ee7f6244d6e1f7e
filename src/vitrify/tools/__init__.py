"""Programs for the command line: `vitrify`, or `python -m vitrify`."""
