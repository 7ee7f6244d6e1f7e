"""The formats of saved models: our own, and those that packages above this one read, by file name, and write.

Nothing is imported here before a model is read: who runs a model without operators needs none of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import ArgumentError, FileFormatError, MissingFileError
from ..core.lazy import lazy_module

if TYPE_CHECKING:
    from .model_file import ModelFile

MODEL_SUFFIX = ".vtmodel"
_own = lazy_module("vitrify.ir.model_file")
Reader = Callable[[str, "str | None"], "ModelFile"]
"""Reads a model file and its parameters (None: those that the format puts beside it)."""


@dataclass(frozen=True)
class Found:
    """A model's files, and what reads them."""

    reader: Reader
    file: str
    params: str | None


class ReadFormats:
    """Readers by the ending of the model's file; each is imported when a file of its kind is read.

    They stand in packages above this one, which may not be imported here; this is the seam between them.
    """

    def __init__(self) -> None:
        self._readers: dict[str, Callable[[], Reader]] = {}

    def add(self, suffix: str, find: Callable[[], Reader]) -> None:
        """Let `find()` give the function that reads files with this ending."""
        self._readers[suffix] = find

    def suffixes(self) -> list[str]:
        """The endings of models' files, our own first."""
        return [MODEL_SUFFIX, *self._readers]

    def find(self, path: str, params: str | None = None) -> Found:
        """The files of the model at `path`: its file, or what comes before the ending. Raises MissingFileError, and
        FileFormatError for a file with another ending.

        Where a named file is not there but another format's of the same name before the ending is, that one is meant:
        code written for Paddle says `net.pdmodel` of what `jit.save` wrote to `net`.
        """
        suffix = next((s for s in self.suffixes() if path.endswith(s)), None)
        if suffix is not None and os.path.isfile(path):
            return self._found(path, suffix, params)
        prefix = path if suffix is None else path.removesuffix(suffix)
        if suffix is None and os.path.isdir(path):
            return self._in_folder(path, params)
        for ending in self.suffixes():
            if os.path.isfile(prefix + ending):
                return self._found(prefix + ending, ending, params)
        if suffix is None and os.path.isfile(path):
            raise FileFormatError(f"{path!r} is no model: models' files end in {', '.join(self.suffixes())}")
        raise MissingFileError(f"there is no model {path!r}: looked for {prefix} with {', '.join(self.suffixes())}")

    def _found(self, file: str, suffix: str, params: str | None) -> Found:
        if params and not os.path.isfile(params) and os.path.splitext(params)[0] == file.removesuffix(suffix):
            params = None  # called as in another format
        return Found(_read_own if suffix == MODEL_SUFFIX else self._readers[suffix](), file, params)

    def _in_folder(self, folder: str, params: str | None) -> Found:
        for ending in self.suffixes():
            names = sorted(name for name in os.listdir(folder) if name.endswith(ending))
            if len(names) == 1:
                return self._found(os.path.join(folder, names[0]), ending, params)
        raise MissingFileError(
            f"the folder {folder!r} holds no single model file that ends in {', '.join(self.suffixes())}"
        )


READERS = ReadFormats()


class StateReaders:
    """What reads files of parameters that are not ours; it stands in a package above this one, as above."""

    def __init__(self) -> None:
        self._find: Callable[[], Callable[[str], dict[str, Any]]] | None = None

    def add(self, find: Callable[[], Callable[[str], dict[str, Any]]]) -> None:
        """Let `find()` give the function that reads such a file as arrays by name."""
        self._find = find

    def read(self, path: str) -> dict[str, Any]:
        """The arrays of a file by name; raises FileFormatError for what is none."""
        assert self._find is not None
        return self._find()(path)


STATES = StateReaders()


class WriteFormats:
    """Other formats than our own, by name: each is imported when first asked for.

    They are written by packages above this one, which may not be imported here; this is the seam between them.
    """

    def __init__(self) -> None:
        self._writers: dict[str, Callable[[], Callable[..., None]]] = {}

    def add(self, name: str, find: Callable[[], Callable[..., None]]) -> None:
        """Let `find()` give the function that saves in the format `name`."""
        self._writers[name] = find

    def writer(self, name: str) -> Callable[..., None]:
        """The function that saves in that format; raises ArgumentError."""
        if name not in self._writers:
            raise ArgumentError(f"jit.save: no format is called {name!r}; there are {['vitrify', *self._writers]}")
        return self._writers[name]()


WRITERS = WriteFormats()


def _read_own(file: str, params: str | None, mapped: bool = False, only: str | None = None) -> ModelFile:
    model: ModelFile = _own.read_model(file.removesuffix(MODEL_SUFFIX), mapped=mapped, params=params, only=only)
    return model


def read_any_model(
    path: str | os.PathLike[str], params: str | None = None, *, mapped: bool = False, only: str | None = None
) -> ModelFile:
    """The model at `path`, a file or what comes before its ending, in any format that can be read.

    params: the file (or folder) with its tensors, where that is not beside it. mapped: leave the tensors in their file,
    as far as the format allows. only: the one function that is wanted; others may be left out.
    Raises MissingFileError, FileFormatError, UnsupportedError.
    """
    found = READERS.find(os.fspath(path), params)
    if found.reader is _read_own:
        return _read_own(found.file, found.params, mapped, only)
    model = found.reader(found.file, found.params)
    _own.check_fit(model)
    return model
