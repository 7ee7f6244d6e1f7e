"""Reverse mode on Programs, from the same vjps as the tape."""
