"""Texts made of tensors: compared, and looked up in dicts, sets and lists, as the run says what they are."""

import pytest

from tests.end_to_end.differential import compare

CALLS = ([1.0, 2.0],), ([-1.0, 3.0],), ([2.0, 2.0],)


def compared(x):
    text = str(int(x[1]))
    if text == "2":
        x = x * 2
    elif text in ("3", "4"):
        x = x * 3
    return x, text != "2", text < str(int(x[0])), text == 2, text in {"b", "3"}


def matched(x):
    match f"k{int(x[0])}":
        case "k1":
            return x
        case "k2" | "k3":
            return x * 2
    return x * 3


def got(x):
    found = {"a": x, "2": x * 2}
    text = str(int(x[1]))
    return found.get(text), found.get(f"{text}!", x * 3), text in found, text not in found


def asked_in_a_try(x):
    try:
        return {"1": x, "2": x * 2}[str(int(x[0]))]
    except KeyError as err:
        return str(err)


def taken_out_and_set(x):
    found = {"1": x, "2": x * 2, "3": x * 3}
    found[str(int(x[1]))] = x * 5
    return found.pop(str(int(x[0])), None), found


def of_an_argument(x):
    return given({"2": x, 1: x * 2}, int(x[1]))


def given(found, n):
    return found.get(str(n)), found.get(n)


FUNCTIONS = [compared, matched, got, asked_in_a_try, taken_out_and_set, of_an_argument]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_eager_code(function):
    compare(function, *CALLS)
