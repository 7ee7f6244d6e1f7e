"""Functions and methods written in C are called once for each text or number that a tensor may have chosen."""

from __future__ import annotations

import pytest

from tests.end_to_end.differential import compare

CALLS = [([1.0, 2.0, 3.0],), ([-1.0, -2.0, 0.5],)]
OF_TEXTS = {
    "ord": ord,
    "ascii": ascii,
    "unbound method": str.upper,
    "method of a literal": lambda text: "abc".index(text),
    "method of a variable": lambda text, whole="abc": whole.find(text),
    "two of them": lambda text: "abc".replace(text, text.upper()),
    "by name": lambda text: "abc".split(sep=text),
    "function of another module": lambda text: str.join(text, ["1", "2"]),
}
OF_NUMBERS = {"chr": chr, "hex": hex, "bin": bin, "oct": oct, "method of a literal": lambda n: "abcdefgh".rjust(n, "*")}


@pytest.mark.parametrize("name", OF_TEXTS)
def test_of_texts(name):
    function = OF_TEXTS[name]

    def called(x):
        text = "a" if x.sum() > 0 else "b"
        return function(text)

    compare(called, *CALLS, strict=True)


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_of_numbers(name):
    function = OF_NUMBERS[name]

    def called(x):
        number = 9 if x.sum() > 0 else 12
        return function(number)

    compare(called, *CALLS, strict=True)
