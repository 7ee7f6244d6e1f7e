"""Ratings of films by users. Source: Harper and Konstan 2015 (MovieLens 1M)."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import FileFormatError
from ...io.dataset import Dataset
from ...io.local_files import local, mode_of

_AGES = (1, 18, 25, 35, 45, 50, 56)
_YEAR = re.compile(r"\(\d{4}\)$")


@dataclass(frozen=True)
class MovieInfo:
    """A film: its number, kinds, and title without the year."""

    index: int
    categories: list[str]
    title: str


@dataclass(frozen=True)
class UserInfo:
    """A user: a number, `age` counts the groups of ages, `job_id` is MovieLens's."""

    index: int
    is_male: bool
    age: int
    job_id: int

    def value(self) -> list[list[int]]:
        """The numbers as a sample has them."""
        return [[self.index], [0 if self.is_male else 1], [self.age], [self.job_id]]


def _rows(path: Path, name: str, fields: int) -> list[list[str]]:
    """The fields of each line of the archive's file; raises FileFormatError for another kind."""
    try:
        with zipfile.ZipFile(path) as archive:
            rows = [line.split("::") for line in archive.read(f"ml-1m/{name}").decode("latin-1").splitlines()]
    except (zipfile.BadZipFile, KeyError) as err:
        raise FileFormatError(f"{path} is not a zip archive with ml-1m/{name}") from err
    if any(len(row) != fields for row in rows):
        raise FileFormatError(f"{path}: lines of ml-1m/{name} must have {fields} fields, with :: between them")
    return rows


def _numbers(words: Iterable[str]) -> dict[str, int]:
    return {word: i for i, word in enumerate(dict.fromkeys(words))}


class Movielens(Dataset[Any]):
    """User, sex, age, job, film, its kinds [k], its title's words [n] and a rating [1] from -3 to 5, of a row each.

    data_file: the local `ml-1m.zip`. Raises UnsupportedError without it: nothing is downloaded. `test_ratio` of the
    ratings, drawn with `rand_seed`, are for testing. Numbers of kinds and words are in the order in which they first
    come, where PaddlePaddle's change with each process. Source: paddle.text.Movielens.

    Example:
        >>> import vitrify as paddle
        >>> import tempfile, zipfile
        >>> path = tempfile.mkdtemp() + "/ml-1m.zip"
        >>> with zipfile.ZipFile(path, "w") as archive:
        ...     archive.writestr("ml-1m/movies.dat", "1::Toy Story (1995)::Animation|Comedy")
        ...     archive.writestr("ml-1m/users.dat", "1::F::1::10::48067")
        ...     archive.writestr("ml-1m/ratings.dat", "1::1::5::978300760")
        >>> ratings = paddle.text.Movielens(path, test_ratio=0.0)
        >>> ratings.movie_info[1].title, [part.tolist() for part in ratings[0]]
        ('Toy Story ', [[1], [1], [0], [10], [1], [0, 1], [0, 1], [5.0]])
    """

    def __init__(
        self, data_file: str | None = None, mode: str = "train", test_ratio: float = 0.1, rand_seed: int = 0,
        download: bool = True,
    ) -> None:  # fmt: skip
        self.mode = mode_of("Movielens", mode, ("train", "test"))
        path = local("Movielens", "data_file", data_file)
        self.movie_info = {
            int(index): MovieInfo(int(index), kinds.split("|"), _YEAR.sub("", title.strip()))
            for index, title, kinds in _rows(path, "movies.dat", 3)
        }
        self.user_info = {
            int(index): UserInfo(int(index), sex == "M", _AGES.index(int(age)), int(job))
            for index, sex, age, job, _ in _rows(path, "users.dat", 5)
        }
        films = self.movie_info.values()
        self.categories_dict = _numbers(kind for film in films for kind in film.categories)
        self.movie_title_dict = _numbers(word for film in films for word in film.title.lower().split())
        ratings = _rows(path, "ratings.dat", 4)
        is_test = np.random.RandomState(rand_seed).random_sample(len(ratings)) < test_ratio
        self.data = [self._sample(row) for row, test in zip(ratings, is_test) if test == (self.mode == "test")]

    def _sample(self, row: list[str]) -> list[list[Any]]:
        user, film = self.user_info[int(row[0])], self.movie_info[int(row[1])]
        kinds = [self.categories_dict[kind] for kind in film.categories]
        words = [self.movie_title_dict[word] for word in film.title.lower().split()]
        return [*user.value(), [film.index], kinds, words, [float(row[2]) * 2 - 5.0]]

    def __getitem__(self, idx: int) -> Any:
        return tuple(np.array(part) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
