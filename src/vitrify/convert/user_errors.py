"""Errors that eager code raises, too, where conversion finds them."""

from __future__ import annotations

from .values import builder


def note_user_error(err: Exception) -> Exception:
    """`err`, known to be one that eager code raises at this place: on a path, only if that is taken."""
    builder().errors[id(err)] = (err, None, True)
    return err
