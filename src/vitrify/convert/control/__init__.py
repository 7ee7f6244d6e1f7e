"""Branches, loops, exceptions and recursion: Python's own, or operators where a tensor decides."""
