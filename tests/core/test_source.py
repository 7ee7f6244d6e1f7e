"""Which frames are the user's."""

from dataclasses import dataclass

from vitrify.core.source import Loc, user_frames


@dataclass(frozen=True)
class Place:
    """A dataclass of the user's."""

    file: object


def test_methods_that_dataclasses_write_belong_to_the_class():
    seen = []

    class Asking:
        def __eq__(self, other):
            seen.append([loc.file for loc in user_frames()])
            return True

        __hash__ = None

    assert Loc(Asking(), 1) == Loc(Asking(), 1)
    assert Place(Asking()) == Place(Asking())
    ours, theirs = seen
    assert "<string>" not in ours and "<string>" in theirs
