"""`try` and `suppress` around an operation that a tensor lets fail: the key, the divisor or the item is the run's."""

from contextlib import suppress

from .functions import N, X


def key_of_one_path(x):
    d = {"a": 1}
    if x.sum() > 0:
        d["b"] = 2
    try:
        n = d["b"]
    except KeyError as err:
        print("missing", err)
        n = -1
    return x * n


def number_as_a_key(x):
    table = {0: 5, 1: 7}
    found = []
    for v in x:
        try:
            found.append(table[int(v)])
        except KeyError as err:
            print("no", err)
            found.append(-1)
    return found


def divided_by_numbers(x):
    found = []
    for v in x:
        try:
            found.append(1 / (int(v) - 1))
        except ZeroDivisionError as err:
            print(err)
            found.append(0.0)
    return found


def divisions_suppressed(x):
    found = []
    for v in x:
        with suppress(ZeroDivisionError):
            found.append(10 // (int(v) - 2))
            found.append(10 % int(v))
    return found


def item_deleted(x):
    d = {}
    if x.sum() > 0:
        d["k"] = x
    try:
        del d["k"]
    except KeyError:
        return x
    return x * 2


def place_of_an_item(x):
    held = [1, 2]
    if x.sum() > 0:
        held.append(3)
    try:
        return held.index(3)
    except ValueError:
        return -1


def none_on_one_path(x):
    found = None
    if x.sum() > 0:
        found = x
    try:
        return found + 1
    except TypeError as err:
        print(err)
        return x * 9


def operators_of_none(x):
    found, n = None, None
    if x.sum() > 0:
        found, n = x, int(x[0])
    for kind in range(5):
        try:
            y = 0
            if kind == 0:
                y = x * found
            elif kind == 1:
                y = n > 1
            elif kind == 2:
                y = n**2
            elif kind == 3:
                y = found @ x
            else:
                y = int(x[1]) // n
            print(y)
        except TypeError as err:
            print(type(err).__name__, err)
    return x


def item_of_none(x):
    found = None
    if x.sum() > 0:
        found = {"a": x}
    try:
        return found["a"] + 1
    except TypeError as err:
        print(err)
        return x * 9


def none_below_another_try(x):
    try:
        try:
            if x.sum() > 0:
                raise ValueError("inner")
            y = x * 2
        except KeyError:
            y = x * 3
        finally:
            print("behind it")
    except ValueError as err:
        print(err)
        return x * 5
    return y


def effects_of_the_whole_statement(x):
    noted = []
    d = {"a": [1]}
    if x.sum() > 0:
        d["b"] = [2]
    try:
        noted.append(len(d["a"]) + d["b"].pop() + d["a"][0])
        noted.append(d["c"])
    except (KeyError, IndexError) as err:
        noted.append(0)
        print(type(err).__name__, err)
    else:
        noted.append(7)
    finally:
        noted.append(8)
    return noted


def raised_in_the_handler(x):
    table = {1: x, 2: x * 2}
    try:
        return table[int(x[0])]
    except KeyError as err:
        raise ValueError("wrapped") from err


def not_all_are_caught(x):
    table = {1: 3, 0: 0}
    try:
        return x * (6 // table[int(x[0])])
    except ZeroDivisionError:
        return x


FUNCTIONS = (
    key_of_one_path, number_as_a_key, divided_by_numbers, divisions_suppressed, item_deleted, place_of_an_item,
    none_on_one_path, operators_of_none, item_of_none, none_below_another_try, effects_of_the_whole_statement,
    raised_in_the_handler, not_all_are_caught,
)  # fmt: skip
CASES = [(f, [(X,), (N,), ([0.0, 1.0, 2.0],)]) for f in FUNCTIONS]
