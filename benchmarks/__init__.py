"""Timings of vitrify beside other frameworks on the same work: `python -m benchmarks.run --help`."""
