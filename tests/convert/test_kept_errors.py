"""Errors that a program keeps, to raise them when it runs, keep nothing else alive."""

import weakref

from vitrify.convert.values.user_errors import without_frames


class Thing:
    """Something that a frame holds."""


def fails(things):
    thing = Thing()
    things.append(weakref.ref(thing))
    try:
        raise ValueError("inner")
    except ValueError as err:
        raise KeyError("outer") from err


def kept(things):
    try:
        fails(things)
    except KeyError as err:
        return without_frames(err)


def test_errors_hold_no_frames_nor_do_those_that_they_came_of():
    things = []
    error = kept(things)
    assert things[0]() is None
    assert str(error.__cause__) == "inner" and error.__traceback__ is None and error.__cause__.__traceback__ is None
