"""Random programs, run eagerly and compiled: `python -m tests.fuzz --count 1000 --seed 0`."""
