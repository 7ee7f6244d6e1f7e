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


def test_what_runs_a_typed_line_is_not_the_users():
    seen = {}
    exec(compile("frames = user_frames()", "<python-input-1>", "exec"), {"user_frames": user_frames}, seen)
    assert [(loc.file, loc.function) for loc in seen["frames"]] == [("<python-input-1>", "<module>")]


def test_frames_of_functions_are_followed_to_the_module():
    def inner():
        return user_frames()

    assert [loc.function for loc in inner()][:2] == ["inner", "test_frames_of_functions_are_followed_to_the_module"]
