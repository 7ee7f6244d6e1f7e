"""Pairs of sentences in two languages. Source: Bojar et al. 2014; Elliott et al. 2016 (Multi30K)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import ArgumentError
from ...io.dataset import Dataset
from ...io.local_files import local, mode_of
from .words import UNKNOWN, lines_of

_START, _END = "<s>", "<e>"
_LONGEST = 80


def _pairs(path: Path, name: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words of both sides of each line that has two."""
    for line in lines_of(path, name):
        sides = line.decode().strip().split("\t")
        if len(sides) == 2:
            yield sides[0].split(), sides[1].split()


def _ids(words: Iterable[str], known: dict[str, int]) -> list[int]:
    return [known.get(word, known[UNKNOWN]) for word in words]


def _size(owner: str, name: str, size: int) -> int:
    if size <= 0:
        raise ArgumentError(f"{owner}: {name} must be positive, got {size}")
    return size


def _reversed(known: dict[str, int], reverse: bool) -> dict[Any, Any]:
    return {number: word for word, number in known.items()} if reverse else dict(known)


class _Pairs(Dataset[Any]):
    """Three int64 arrays each: the source sentence between marks, the target after `<s>`, and before `<e>`."""

    def _fill(
        self, pairs: Iterable[tuple[Sequence[str], Sequence[str]]], known: tuple[dict[str, int], dict[str, int]]
    ) -> None:
        self.data: list[tuple[list[int], list[int], list[int]]] = []
        source, target = known
        for words, translated in pairs:
            ids = _ids(translated, target)
            whole = _ids((_START, *words, _END), source)
            self.data.append((whole, [target[_START], *ids], [*ids, target[_END]]))

    def __getitem__(self, idx: int) -> Any:
        return tuple(np.array(part, np.int64) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)


class WMT14(_Pairs):
    """English and French as numbers of words: source [n], target [m] after `<s>`, target [m] before `<e>`; int64.

    data_file: the local `wmt14.tgz`, which has word lists; the first `dict_size` words count. Raises UnsupportedError
    without it: nothing is downloaded. Pairs of more than 80 words are left out. Source: paddle.text.WMT14.

    Example:
        >>> import vitrify as paddle
        >>> import io, tarfile, tempfile
        >>> path = tempfile.mkdtemp() + "/wmt14.tgz"
        >>> texts = {"src.dict": "<s> <e> <unk> a dog", "trg.dict": "<s> <e> <unk> un chien"}
        >>> texts = {name: text.replace(" ", chr(10)) for name, text in texts.items()}
        >>> with tarfile.open(path, "w:gz") as archive:
        ...     for name, text in (texts | {"train/train": "a dog" + chr(9) + "un chien"}).items():
        ...         info = tarfile.TarInfo(name)
        ...         info.size = len(text)
        ...         archive.addfile(info, io.BytesIO(text.encode()))
        >>> [part.tolist() for part in paddle.text.WMT14(path, dict_size=5)[0]]
        [[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]]
    """

    def __init__(
        self, data_file: str | None = None, mode: str = "train", dict_size: int = -1, download: bool = True
    ) -> None:
        self.mode = mode_of("WMT14", mode, ("train", "test", "gen"))
        self.dict_size = _size("WMT14", "dict_size", dict_size)
        path = local("WMT14", "data_file", data_file)
        self.src_dict, self.trg_dict = (self._words(path, side) for side in ("src", "trg"))
        fitting = (
            (words, translated)
            for words, translated in _pairs(path, f"{self.mode}/{self.mode}")
            if len(words) + 2 <= _LONGEST and len(translated) <= _LONGEST
        )
        self._fill(fitting, (self.src_dict, self.trg_dict))

    def _words(self, path: Path, side: str) -> dict[str, int]:
        lines = lines_of(path, f"{side}.dict")[: self.dict_size]
        return {line.decode().strip(): number for number, line in enumerate(lines)}

    def get_dict(self, reverse: bool = False) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Words to numbers of both languages; numbers to words if `reverse`."""
        return _reversed(self.src_dict, reverse), _reversed(self.trg_dict, reverse)


class WMT16(_Pairs):
    """English and German as numbers of words: source [n], target [m] after `<s>`, target [m] before `<e>`; int64.

    data_file: the local `wmt16.tar.gz`. Raises UnsupportedError without it: nothing is downloaded. lang: the source,
    "en" or "de". The words of the sizes given are the most frequent ones of the training pairs, each language's of its
    own; PaddlePaddle looks for target words in the source language's. Source: paddle.text.WMT16.

    Example:
        >>> import vitrify as paddle
        >>> import io, tarfile, tempfile
        >>> path = tempfile.mkdtemp() + "/wmt16.tar.gz"
        >>> text = b"a dog" + bytes([9]) + b"ein Hund"
        >>> with tarfile.open(path, "w:gz") as archive:
        ...     info = tarfile.TarInfo("wmt16/train")
        ...     info.size = len(text)
        ...     archive.addfile(info, io.BytesIO(text))
        >>> pairs = paddle.text.WMT16(path, src_dict_size=5, trg_dict_size=5)
        >>> [part.tolist() for part in pairs[0]], sorted(pairs.trg_dict)
        ([[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]], ['<e>', '<s>', '<unk>', 'Hund', 'ein'])
    """

    def __init__(
        self, data_file: str | None = None, mode: str = "train", src_dict_size: int = -1, trg_dict_size: int = -1,
        lang: str = "en", download: bool = True,
    ) -> None:  # fmt: skip
        self.mode = mode_of("WMT16", mode, ("train", "test", "val"))
        sizes = (_size("WMT16", "src_dict_size", src_dict_size), _size("WMT16", "trg_dict_size", trg_dict_size))
        self.src_dict_size, self.trg_dict_size = sizes
        self.lang = mode_of("WMT16", lang, ("en", "de"))
        path = local("WMT16", "data_file", data_file)
        counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for words, translated in self._read(path, "train"):
            counts[0].update(words)
            counts[1].update(translated)
        self.src_dict, self.trg_dict = (self._most_frequent(count, size) for count, size in zip(counts, sizes))
        self._fill(self._read(path, self.mode), (self.src_dict, self.trg_dict))

    def _read(self, path: Path, part: str) -> Iterator[tuple[list[str], list[str]]]:
        """The words of both sides, those of the source language first."""
        for english, german in _pairs(path, f"wmt16/{part}"):
            yield (english, german) if self.lang == "en" else (german, english)

    @staticmethod
    def _most_frequent(counts: Counter[str], size: int) -> dict[str, int]:
        marks = (_START, _END, UNKNOWN)
        words = [word for word, _ in counts.most_common(max(size - len(marks), 0))]
        return {word: number for number, word in enumerate((*marks, *words))}

    def get_dict(self, lang: str, reverse: bool = False) -> dict[Any, Any]:
        """Words of the language to numbers; numbers to words if `reverse`."""
        is_source = mode_of("WMT16", lang, ("en", "de")) == self.lang
        return _reversed(self.src_dict if is_source else self.trg_dict, reverse)
