"""Scripts that turn lines of a file into the lines of slots that datasets read: `python script.py < FILE`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...core.errors import ArgumentError

Slots = Iterable[tuple[str, list[Any]]]


class DataGenerator:
    """What makes samples of lines: subclasses define `generate_sample`, and `generate_batch` if batches matter.

    Example:
        >>> from vitrify.distributed import fleet
        >>> class Words(fleet.MultiSlotStringDataGenerator):
        ...     def generate_sample(self, line):
        ...         def samples():
        ...             yield [("words", line.split()), ("label", ["1"])]
        ...         return samples
        >>> Words().written(["to be", "or"])
        ['2 to be 1 1\\n', '1 or 1 1\\n']
    """

    def __init__(self) -> None:
        self.batch_size_ = 32

    def set_batch(self, batch_size: int) -> None:
        """Let `generate_batch` get so many samples at once."""
        self.batch_size_ = batch_size

    def generate_sample(self, line: str | None) -> Callable[[], Iterator[Slots]]:
        """A function that yields the samples of a line (None: of no file), each a list of (slot, values)."""
        raise NotImplementedError("a DataGenerator needs generate_sample(line)")

    def generate_batch(self, samples: list[Slots]) -> Callable[[], Iterator[Slots]]:
        """A function that yields the samples of a batch."""
        return lambda: iter(samples)

    def run_from_stdin(self) -> None:
        """Write the samples of the lines of standard input to standard output."""
        sys.stdout.writelines(self._lines(sys.stdin))

    def run_from_memory(self) -> None:
        """Write the samples that `generate_sample(None)` gives to standard output."""
        sys.stdout.writelines(self._lines([None]))

    def written(self, lines: Iterable[str | None]) -> list[str]:
        """The lines of slots of some lines."""
        return list(self._lines(lines))

    def _lines(self, lines: Iterable[str | None]) -> Iterator[str]:
        batch: list[Slots] = []
        for line in lines:
            for sample in self.generate_sample(line)():
                batch.append(sample)
                if len(batch) == self.batch_size_:
                    yield from map(self._gen_str, self.generate_batch(batch)())
                    batch = []
        if batch:
            yield from map(self._gen_str, self.generate_batch(batch)())

    def _gen_str(self, line: Slots) -> str:
        words: list[str] = []
        for name, values in line:
            if not isinstance(values, list) or not values:
                raise ArgumentError(f"slot {name!r} has {values!r}, expected a list of values, not an empty one")
            words += [str(len(values)), *map(self._word, values)]
        return " ".join(words) + "\n"

    def _word(self, value: Any) -> str:
        raise NotImplementedError("take MultiSlotDataGenerator or MultiSlotStringDataGenerator")


class MultiSlotStringDataGenerator(DataGenerator):
    """A generator whose values are texts. Source: paddle.distributed.fleet.MultiSlotStringDataGenerator."""

    def _word(self, value: Any) -> str:
        return str(value)


class MultiSlotDataGenerator(DataGenerator):
    """A generator whose values are numbers. Source: paddle.distributed.fleet.MultiSlotDataGenerator."""

    def _word(self, value: Any) -> str:
        if not isinstance(value, (int, float)):
            raise ArgumentError(f"a slot has {value!r}, expected numbers", hint="take MultiSlotStringDataGenerator")
        return str(value)


__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]
