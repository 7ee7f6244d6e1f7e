"""The error raised where a tensor decides about a container that converted code did not make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.errors import UnsupportedError


class ForeignError(UnsupportedError):
    """A list or dict that converted code did not make would get another length.

    `container`: which; `places`: where the trace found it, None for one in which nothing else can be put.
    """

    container: Any = None
    places: Sequence[Any] = ()

    def of(self, container: Any) -> ForeignError:
        """The error, about this container."""
        self.container = container
        return self


class ForkedError(UnsupportedError):
    """A list or dict is changed, compared or given out that a tensor decides to be one of several, and was merged.

    A trace in which such a value stays the one or the other can do it.
    """


class AskedInLoopError(ForkedError):
    """`is` took a loop variable for another tensor than one that an iteration makes it.

    A trace in which loops number the tensors that they hand on can tell.
    """

    @classmethod
    def instead_of(cls, err: ForkedError) -> AskedInLoopError:
        """An error that says the same."""
        return cls(err.message, hint=err.hint)


def undecided_identity(kind: str) -> ForkedError:
    """The error of `is` where nothing in the program tells whether two values are one object."""
    return ForkedError(
        f"a tensor decided which {kind} one operand of `is` is, so whether they are the same object is not known yet",
        hint="decide about what you need to know on each path (same = True), and test that",
    )
