"""Where user code stands: source locations, and which stack frames belong to the user."""

from __future__ import annotations

import linecache
import os
import sys
import weakref
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType, TracebackType

_PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_OUR_MODULES = __name__.partition(".")[0] + "."
_FOREIGN_ROOTS = ("<frozen", "<__array_function__")
_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = os.path.join(_STANDARD, "site-packages") + os.sep
MAX_FRAMES = 8
Columns = tuple[int | None, int | None]


@dataclass(frozen=True)
class Loc:
    """One place in the user's source: file, 1-based line, function name and optional column range."""

    file: str
    line: int
    function: str = "<module>"
    col: int | None = None
    end_col: int | None = None

    @property
    def text(self) -> str:
        """The source line with its indentation removed, or an empty string when the file is unknown."""
        return linecache.getline(self.file, self.line).strip()

    def report(self) -> str:
        """`file:line in function`, followed by the source line with carets under the known columns."""
        head = f"at {self.file}:{self.line} in {self.function}"
        raw = linecache.getline(self.file, self.line).rstrip("\n")
        if not raw.strip():
            return head
        indent = len(raw) - len(raw.lstrip())
        lines = [head, "    " + raw.strip()]
        if self.col is not None and self.end_col is not None and self.end_col > self.col:
            lines.append("    " + " " * (self.col - indent) + "^" * (self.end_col - self.col))
        return "\n".join(lines)


_OURS: set[str] = set()
"""Names of files of this package that were asked for: no more than it has."""
is_known_ours = _OURS.__contains__


@lru_cache(maxsize=4096)
def is_user_file(filename: str) -> bool:
    """Whether a frame of this file counts as the user's (not ours, not the interpreter's)."""
    if filename.startswith(_PACKAGE_ROOT):
        _OURS.add(filename)
        return False
    return not filename.startswith(_FOREIGN_ROOTS)


@lru_cache(maxsize=4096)
def _is_standard(filename: str) -> bool:
    """Whether a file is of Python's own library, or of the interpreter."""
    return filename.startswith(_FOREIGN_ROOTS) or (
        filename.startswith(_STANDARD) and not filename.startswith(_INSTALLED)
    )


def is_asked_by_others(frame: FrameType | None) -> bool:
    """Whether code that runs in a frame is not ours; of Python's own library, whether what called it is not."""
    while frame is not None:
        filename = frame.f_code.co_filename
        if filename.startswith(_PACKAGE_ROOT):
            _OURS.add(filename)
            return False
        written = filename == "<string>" and str(frame.f_globals.get("__name__")).startswith(_OUR_MODULES)
        if not (written or _is_standard(filename)):
            return True
        frame = frame.f_back
    return False


def is_user_frame(frame: FrameType) -> bool:
    """Whether a frame is the user's: of a file of theirs, and no method that dataclasses wrote for a class of ours."""
    filename = frame.f_code.co_filename
    if filename == "<string>" and str(frame.f_globals.get("__name__")).startswith(_OUR_MODULES):
        return False
    return is_user_file(filename)


# A code object, the columns of its instructions, and the locations made so far by line and instruction.
_Held = tuple[weakref.ref[CodeType], list[Columns], dict[tuple[int, int], Loc]]


class _Places:
    """The locations of instructions of code objects, made once for each while the code object lives.

    A function is asked for the same few again and again while its operators are recorded.
    """

    def __init__(self) -> None:
        # By identity: code objects are equal that differ in their places alone.
        self._known: dict[int, _Held] = {}

    def of(self, code: CodeType, line: int, instruction: int) -> Loc:
        """The location of one instruction; its columns are None where they are not known or not on one line."""
        held = self._known.get(id(code))
        if held is None or held[0]() is not code:
            held = self._read(code)
        _, columns, locs = held
        loc = locs.get((line, instruction))
        if loc is None:
            index = instruction // 2
            col, end_col = columns[index] if 0 <= index < len(columns) else (None, None)
            loc = locs[line, instruction] = Loc(code.co_filename, line, code.co_name, col, end_col)
        return loc

    def _read(self, code: CodeType) -> _Held:
        positions = getattr(code, "co_positions", None)  # Python 3.11 and later
        columns: list[Columns] = []
        if positions is not None:
            columns = [(col, end_col) if line == end else (None, None) for line, end, col, end_col in positions()]
        number = id(code)
        held: _Held = weakref.ref(code, lambda gone: self._forget(number, gone)), columns, {}
        self._known[number] = held
        return held

    def _forget(self, number: int, gone: weakref.ref[CodeType]) -> None:
        held = self._known.get(number)
        if held is not None and held[0] is gone:
            self._known.pop(number, None)


_PLACES = _Places()


def _loc_of_entry(tb: TracebackType) -> Loc:
    """The location of one entry of a traceback."""
    return _PLACES.of(tb.tb_frame.f_code, tb.tb_lineno, tb.tb_lasti)


def user_frames(skip: int = 1, limit: int = MAX_FRAMES) -> tuple[Loc, ...]:
    """The user's frames of the current stack, innermost first, at most `limit`.

    Where a frame runs a part of the code of one around it (a converted branch or loop body), only the part counts:
    in the user's source they are one.
    A module, a notebook's cell or a typed line is where the user began: what runs it (an import, a notebook's kernel,
    the interactive interpreter) is not theirs.
    """
    found: list[Loc] = []
    frame: FrameType | None = sys._getframe(skip)
    inner: CodeType | None = None
    # Most frames are ours, and each operator that is recorded asks: one look at the name of their file tells.
    ours = _OURS
    while frame is not None and len(found) < limit:
        code = frame.f_code
        if code.co_filename not in ours and is_user_frame(frame):
            if inner is None or not _is_part(inner, code):
                found.append(_PLACES.of(code, frame.f_lineno, frame.f_lasti))
            if code.co_name == "<module>":
                break
            inner = code
        frame = frame.f_back
    return tuple(found)


def stack_depth(skip: int = 0) -> int:
    """How many frames are on the stack, the caller's included, the innermost `skip` left out."""
    depth = 0
    frame: FrameType | None = sys._getframe(1 + skip)
    while frame is not None:
        depth += 1
        frame = frame.f_back
    return depth


def innermost_user_loc(tb: TracebackType | None) -> Loc | None:
    """Where the user's code stood when an exception with this traceback was raised; None if none of it was running.

    A place in Python's own library is one only where nothing else is.
    """
    found: TracebackType | None = None
    while tb is not None:
        is_better = found is None or not _is_standard(tb.tb_frame.f_code.co_filename)
        if is_user_frame(tb.tb_frame) and is_better:
            found = tb
        tb = tb.tb_next
    return None if found is None else _loc_of_entry(found)


def user_locs(tb: TracebackType | None) -> tuple[Loc, ...]:
    """The user's places that a traceback passes, innermost first; parts of one function count once."""
    found: list[Loc] = []
    tb = user_traceback(tb)
    while tb is not None:
        if is_user_frame(tb.tb_frame):
            found.append(_loc_of_entry(tb))
        tb = tb.tb_next
    return tuple(reversed(found))


def repeated_user_loc(tb: TracebackType | None) -> Loc | None:
    """The user's place that a traceback passes most often, or None when none is the user's."""
    places: Counter[tuple[str, int]] = Counter()
    frames: dict[tuple[str, int], TracebackType] = {}
    while tb is not None:
        place = (tb.tb_frame.f_code.co_filename, tb.tb_lineno)
        if is_user_frame(tb.tb_frame):
            places[place] += 1
            frames[place] = tb
        tb = tb.tb_next
    if not places:
        return None
    # The places of one round of the recursion come up equally often, give or take the last round: take the innermost.
    most = max(places.values())
    least = most - 1 if most > 2 else most
    place = [p for p, count in places.items() if count >= least][-1]
    return _loc_of_entry(frames[place])


def _is_part(inner: CodeType, outer: CodeType) -> bool:
    return inner.co_name == outer.co_name and any(const is inner for const in outer.co_consts)


def user_traceback(tb: TracebackType | None) -> TracebackType | None:
    """`tb` with the frames inside this package cut out, keeping it whole when none is the user's.

    Of a frame and one that runs a part of its code only the part is kept, as in `user_frames`.
    """
    kept: list[TracebackType] = []
    cursor = tb
    while cursor is not None:
        if is_user_frame(cursor.tb_frame):
            if kept and _is_part(cursor.tb_frame.f_code, kept[-1].tb_frame.f_code):
                kept.pop()
            kept.append(cursor)
        cursor = cursor.tb_next
    if not kept:
        return tb
    chain: TracebackType | None = None
    for entry in reversed(kept):
        chain = TracebackType(chain, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return chain


def show_traceback(err: BaseException, tb: TracebackType | None) -> None:
    """Let `tb` be the traceback of an exception that is handled, for a handler that ends with a bare `raise`.

    Python adds no entry for such a handler. Python 3.10 goes on with the first entry that there was: `tb` follows that.
    """
    if sys.version_info < (3, 11) and err.__traceback__ is not None:
        err.__traceback__.tb_next = tb
    err.__traceback__ = tb


def is_users_local(name: str, tb: TracebackType | None) -> bool:
    """Whether a variable that is free where a traceback ends is a local one of the user's function there.

    It is if that is a part of the function's code, such as a converted loop body.
    """
    owner = innermost = None
    for frame in _frames_to(tb):
        code = frame.f_code
        if is_user_frame(frame):
            if innermost is None or not _is_part(code, innermost):
                owner = code
            innermost = code
    if owner is None or innermost is None:
        return False
    return name in innermost.co_freevars and name in owner.co_cellvars


def _frames_to(tb: TracebackType | None) -> list[FrameType]:
    """The frames of a traceback, behind those that called what caught the exception: the innermost is the last."""
    frame = None if tb is None else tb.tb_frame.f_back
    found: list[FrameType] = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    found.reverse()
    while tb is not None:
        found.append(tb.tb_frame)
        tb = tb.tb_next
    return found


def user_stacklevel() -> int:
    """The `stacklevel` with which a warning given by the caller is shown at the user's line."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and not is_user_frame(frame):
        frame, level = frame.f_back, level + 1
    return level
