"""Passes: pure functions from Graph to Graph, run in the order that `pipeline.py` lists."""
