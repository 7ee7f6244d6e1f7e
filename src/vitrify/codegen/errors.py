"""Why something has no native form."""

from __future__ import annotations


class NoNativeForm(Exception):
    """Something cannot be written as machine code here; the message says what and why. Never reaches users."""
