"""Every error that conversion can raise: a program that causes it, what it says, and a program that does not.

`docs/errors.md` is made from this table (`pytest tests/errors --update-golden`), with the messages as they really are.
Programs are files of their own: their first line is line 1. `f` is converted and called with `args`.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

VECTOR = "paddle.to_tensor([1.0, 2.0, 3.0])"


@dataclass(frozen=True)
class Entry:
    """One error: `says` is part of its message; `cure` is the program made right, `why` one sentence for the reader."""

    name: str
    error: str
    says: str
    program: str
    cure: str
    why: str
    args: tuple[str, ...] = (VECTOR,)
    group: str = ""


def _entry(name: str, error: str, says: str, why: str, program: str, cure: str, *args: str) -> Entry:
    return Entry(name, error, says, _text(program), _text(cure), why, args or (VECTOR,))


def _text(program: str) -> str:
    return dedent(program).strip("\n") + "\n"


GROUPS: dict[str, list[Entry]] = {
    "Values of tensors": [
        _entry(
            "The truth of several elements",
            "ArgumentError",
            "its truth is ambiguous",
            "A condition must have one element, as eagerly.",
            """
            def f(x):
                if x > 0:
                    return x
                return -x
            """,
            """
            def f(x):
                if (x > 0).all():
                    return x
                return -x
            """,
        ),
        _entry(
            "The text of a tensor where characters are needed",
            "UnsupportedError",
            "characters are needed",
            "A text made of tensors is known when the program runs; it can be printed or raised, not looked into.",
            """
            def f(x):
                digits = f"{x.sum()}".split(".")
                return x * len(digits[0])
            """,
            """
            def f(x):
                return x * len(f"{x.sum().floor()}"[:-2])
            """,
        ),
        _entry(
            "A tensor changed in place has another rank on one path",
            "UnsettledError",
            "on one path of a tensor's decision and float32[3] on another, changed in place",
            "All that is computed behind the branch depends on the rank and the dtype, and the object stays the same.",
            """
            def f(x):
                y = x * 2
                if x.sum() > 0:
                    y.unsqueeze_(0)
                return y.squeeze()
            """,
            """
            def f(x):
                y = x * 2
                if x.sum() > 0:
                    y = y.unsqueeze(0)
                return y.squeeze()
            """,
        ),
        _entry(
            "stop_gradient of an argument is changed late",
            "UnsupportedError",
            "stop_gradient of a tensor that the function was given, or that was there before, is changed after",
            "Each run sets the flag of what it is given before its first operator.",
            """
            def f(x):
                y = x + 1
                x.stop_gradient = False
                return x * y
            """,
            """
            def f(x):
                x.stop_gradient = False
                y = x.detach() + 1
                return x * y
            """,
        ),
        _entry(
            "Where a tensor stands on the tape",
            "UnsupportedError",
            "grad_fn of a tensor is read inside a function that is being converted: it depends on the call",
            "Inside a program there is no tape; stop_gradient is known.",
            """
            def f(x):
                return x * 2 if x.grad_fn is None else x
            """,
            """
            def f(x):
                return x * 2 if x.stop_gradient else x
            """,
        ),
        _entry(
            "A hook on an argument or parameter that stays",
            "UnsupportedError",
            "stays there when it has ended",
            "It would stay on the caller's tensor, and be registered again by each call.",
            """
            def f(x):
                x.register_hook(lambda grad: grad * 2)
                return x * 2
            """,
            """
            def f(x):
                y = x * 1
                y.register_hook(lambda grad: grad * 2)
                return y * 2
            """,
            "paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)",
        ),
        _entry(
            "A hook that a path registers",
            "UnsupportedError",
            "register_hook() on a tensor that was not made here",
            "A hook stands between the tensor and all its uses, those of the other path as well.",
            """
            def f(x):
                y = x * 1
                if x.sum() > 10:
                    y.register_hook(lambda grad: grad * 2)
                return y * 2
            """,
            """
            def f(x):
                y = x * 1
                factor = 2.0 if x.sum() > 10 else 1.0
                y.register_hook(lambda grad: grad * factor)
                return y * 2
            """,
            "paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)",
        ),
        _entry(
            "A hook on a tensor that was used",
            "UnsupportedError",
            "register_hook() on a tensor that was used before",
            "The hook changes the gradient of all uses; those before it are in the program already.",
            """
            def f(x):
                y = x * 2
                z = y * 3
                y.register_hook(lambda grad: grad * 2)
                return z
            """,
            """
            def f(x):
                y = x * 2
                y.register_hook(lambda grad: grad * 2)
                return y * 3
            """,
            "paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)",
        ),
        _entry(
            "A number as a new key of a dict",
            "UnsupportedError",
            "it is none of the keys",
            "Where some values of a dict are lists and others are not, its keys must be known while converting; which "
            "of them is set need not.",
            """
            def f(x):
                parts = {0: x, 1: [x]}
                parts[int(x.argmax())] = x * 2
                return parts[0]
            """,
            """
            def f(x):
                parts = {0: x, 1: [x], 2: x}
                parts[int(x.argmax())] = x * 2
                return parts[0]
            """,
        ),
        _entry(
            "item() of several elements",
            "ArgumentError",
            "has 3 elements, expected one",
            "As eagerly.",
            """
            def f(x):
                return x.item() * 2
            """,
            """
            def f(x):
                return x[0].item() * 2
            """,
        ),
        _entry(
            "The length of a scalar",
            "DTypeError",
            "len() of a 0-D tensor",
            "As eagerly.",
            """
            def f(x):
                return x * len(x.sum())
            """,
            """
            def f(x):
                return x * len(x)
            """,
        ),
        _entry(
            "A loop over a scalar",
            "DTypeError",
            "iteration over a 0-D tensor",
            "As eagerly.",
            """
            def f(x):
                for row in x.sum():
                    x = x + row
                return x
            """,
            """
            def f(x):
                for row in x:
                    x = x + row
                return x
            """,
        ),
        _entry(
            "A function of math without a tensor form",
            "UnsupportedError",
            "math.",
            "Functions of `math` that have a tensor operation are converted to it; the others need a number.",
            """
            import math


            def f(x):
                return x * math.gcd(x.astype("int64").sum(), 4)
            """,
            """
            def f(x):
                return x * 2.0
            """,
        ),
        _entry(
            "The text of a tensor in code that is not converted",
            "UnsupportedError",
            "is needed here, but known only",
            "Libraries run while converting; what they read must be known then.",
            """
            from string import Template


            def f(x):
                print(Template("sum $s").substitute(s=x.sum()))
                return x
            """,
            """
            def f(x):
                print("sum", x.sum())
                return x
            """,
        ),
        _entry(
            "NumPy writes a program's values to an array from before",
            "UnsupportedError",
            "copyto writes what only a run of the program knows to an array that was there before",
            "Arrays that the function makes can be changed. Others are there once for all runs, and stay.",
            """
            import numpy as np

            kept = np.zeros(2, "float32")

            def f(x):
                np.copyto(kept, x.numpy()[:2])
                return paddle.to_tensor(kept)
            """,
            """
            def f(x):
                kept = x.numpy()[:2].copy()
                return paddle.to_tensor(kept)
            """,
        ),
        _entry(
            "A NumPy value that drives Python",
            "UnsupportedError",
            "a NumPy value computed from tensors is used as",
            "What NumPy computes in the run may decide branches and become a tensor or a number; Python's own code "
            "cannot look at it, or change what it is, while a function is converted.",
            """
            def f(x):
                a = x.numpy()
                a.shape = (-1, 1)
                return paddle.to_tensor(a)
            """,
            """
            def f(x):
                a = x.numpy().reshape(-1, 1)
                return paddle.to_tensor(a)
            """,
        ),
    ],
    "Branches that a tensor decides": [
        _entry(
            "Two kinds of values",
            "ArgumentError",
            "depends on a tensor condition, but",
            "What the branches give leaves them as tensors, numbers, text, functions, Layers or structures of such.",
            """
            import numpy as np

            def f(x):
                if x.sum() > 0:
                    y = np.ones(3, "float32")
                else:
                    y = x
                return y + x
            """,
            """
            def f(x):
                if x.sum() > 0:
                    y = paddle.ones([3])
                else:
                    y = x
                return y + x
            """,
        ),
        _entry(
            "A value of several kinds",
            "ArgumentError",
            "is used where it must be of one kind",
            "Whatever is asked of such a value is asked of each kind by itself. Python makes a class while it "
            "converts.",
            """
            def f(x):
                kind = dict if x.sum() > 0 else list

                class Kept(kind):
                    def size(self):
                        return len(self) + 1

                return x * Kept().size()
            """,
            """
            def f(x):
                kept = dict() if x.sum() > 0 else list()
                return x * (len(kept) + 1)
            """,
        ),
        _entry(
            "A container of a class of your own that differs",
            "UnsupportedError",
            "is changed in an `if` that a tensor decides",
            "Of Python's own lists, dicts, sets and deques a tensor may decide what is in them, of others it may not.",
            """
            from collections import deque


            class Names(deque):
                pass


            def f(x):
                names = Names()
                if x.sum() > 0:
                    names.append("positive")
                return x, names
            """,
            """
            def f(x):
                positive = x.sum() > 0
                return x, {"positive": positive}
            """,
        ),
        _entry(
            "A variable that the path taken did not set",
            "UnboundLocalError",
            "local variable 'y'",
            "Raised when the program runs, and only if the path that leaves it unset was taken, as eagerly.",
            """
            def f(x):
                if x.sum() > 100:
                    y = x
                return x + y
            """,
            """
            def f(x):
                y = paddle.zeros_like(x)
                if x.sum() > 100:
                    y = x
                return x + y
            """,
        ),
    ],
    "Loops that a tensor stops": [
        _entry(
            "A loop variable that changes its rank",
            "ArgumentError",
            "changes its number of dimensions",
            "Sizes may change from one iteration to the next, the number of dimensions may not.",
            """
            def f(x):
                while x.sum() < 100:
                    x = paddle.unsqueeze(x, 0) * 2
                return x
            """,
            """
            def f(x):
                while x.sum() < 100:
                    x = paddle.concat([x, x]) * 2
                return x
            """,
        ),
        _entry(
            "A loop variable that is no tensor afterwards",
            "ArgumentError",
            "can carry only tensors and numbers",
            "What goes from one iteration to the next must be a value of the program.",
            """
            import numpy as np

            def f(x):
                last = 0
                while x.sum() < 100:
                    x = x * 2
                    last = np.ones(3)
                return x, last
            """,
            """
            def f(x):
                last = paddle.zeros([3])
                while x.sum() < 100:
                    x = x * 2
                    last = paddle.ones([3])
                return x, last
            """,
        ),
        _entry(
            "A list that nests deeper",
            "UnsupportedError",
            "has items of different kinds",
            "What each item is must stay the same from one iteration to the next.",
            """
            def f(x):
                history = [x]
                while x.sum() < 100:
                    x = x * 2
                    history = [history, x]
                return history
            """,
            """
            def f(x):
                history = [x, x]
                while x.sum() < 100:
                    x = x * 2
                    history = [history[1], x]
                return history
            """,
        ),
        _entry(
            "A loop without an end on a path that may not be taken",
            "UnsupportedError",
            "and no tensor ends it",
            "Both paths of a decision are traced; eager code would not come to this one.",
            """
            def f(x):
                if x.sum() > 0:
                    return x * 2
                n = 0
                while True:
                    n += 1
            """,
            """
            def f(x):
                if x.sum() > 0:
                    return x * 2
                raise ValueError("the sum must be positive")
            """,
        ),
    ],
    "Sequences of unknown length": [
        _entry(
            "A generator that is kept",
            "UnsupportedError",
            "it is not used up at once",
            "Where a tensor decides what a generator gives, its items exist only inside the function that uses them.",
            """
            def f(x):
                rows = (row for row in x if row > 1)
                more = (row for row in x if row > 2)
                return list(zip(rows, more))
            """,
            """
            def f(x):
                rows = [row for row in x if row > 1]
                more = [row for row in x if row > 2]
                return list(zip(rows, more))
            """,
        ),
        _entry(
            "Objects that note how they are compared",
            "UnsupportedError",
            "how objects are sorted whose own `<` changes or prints something",
            "Python's sort decides by each answer what it asks next; a program asks for all pairs.",
            """
            class Counted:
                def __init__(self, value, counts):
                    self.value, self.counts = value, counts

                def __lt__(self, other):
                    self.counts.append(1)
                    return self.value < other.value

            def f(x):
                counts = []
                return sorted([Counted(v, counts) for v in x])[0].value, len(counts)
            """,
            """
            def f(x):
                return sorted([v for v in x])[0]
            """,
        ),
        _entry(
            "A dict in a list, and elsewhere",
            "UnsupportedError",
            "leaves the function with a dict or object in it that others have, too",
            "Such a list holds values; in eager code its items are the very dicts that others hold, and change.",
            """
            def f(x):
                best, rows = {"x": x}, []
                for v in x:
                    if v > 0:
                        rows.append(best)
                return rows, best
            """,
            """
            def f(x):
                best, rows = {"x": x}, []
                for v in x:
                    if v > 0:
                        rows.append({"x": x})
                return rows, best
            """,
        ),
        _entry(
            "A range as a key",
            "UnsupportedError",
            "a range with bounds that only a run knows is a key or an item of a set",
            "A range whose bounds a tensor gives has its hash only when the program runs.",
            """
            def f(x):
                return {range(int(x.max())): x}
            """,
            """
            def f(x):
                return {int(x.max()): x}
            """,
        ),
        _entry(
            "The rest of a generator",
            "UnsupportedError",
            "of which a tensor decides where a loop left it",
            "A generator of two `for`, of which a tensor decides the items, can be gone through once, from its start.",
            """
            def f(x):
                rows = (row * k for row in x for k in (1, 2) if row > 1)
                return next(rows, x[0]) + next(rows, x[1])
            """,
            """
            def f(x):
                rows = [row * k for row in x for k in (1, 2) if row > 1]
                return rows[0] + rows[1]
            """,
        ),
        _entry(
            "A generator that its own loop takes from",
            "UnsupportedError",
            "taken inside of a loop over the same generator",
            "Its function runs through, and calls the loop's body with each item.",
            """
            def f(x):
                def steps():
                    for number in range(5):
                        yield number
                numbers = steps()
                for number in numbers:
                    x = x + number * next(numbers, 0)
                return x
            """,
            """
            def f(x):
                def steps():
                    for number in range(5):
                        yield number
                numbers = iter(list(steps()))
                for number in numbers:
                    x = x + number * next(numbers, 0)
                return x
            """,
        ),
        _entry(
            "groupby() by a tensor",
            "UnsupportedError",
            "a tensor decides which items there are",
            "How many groups there are is known only when the program runs.",
            """
            import itertools

            def f(x):
                return [key for key, group in itertools.groupby(x, lambda row: row > 1)]
            """,
            """
            def f(x):
                return x[x > 1]
            """,
        ),
        _entry(
            "The dtype of a variable that changes it",
            "UnsupportedError",
            "depends on the path that a tensor decided about",
            "Python reads the dtype while converting, but it is another one after the first iteration of the loop.",
            """
            def f(x):
                n = x.astype("int64")
                while n.sum() < 20:
                    n = n + 0.5
                return n.astype(n.dtype)
            """,
            """
            def f(x):
                n = x.astype("float32")
                while n.sum() < 20:
                    n = n + 0.5
                return n.astype(n.dtype)
            """,
        ),
        _entry(
            "The text of a number or tensor",
            "UnsupportedError",
            "the text of a value that is a number on one path",
            "A tensor decides whether the number is a Python number; what is computed from it has no text then.",
            """
            def f(x):
                n = 1
                if x.sum() > 0:
                    n = x.sum()
                print(n**0.5)
                return x
            """,
            """
            def f(x):
                n = paddle.ones([])
                if x.sum() > 0:
                    n = x.sum()
                print(n**0.5)
                return x
            """,
        ),
        _entry(
            "A library function that needs text at once",
            "UnsupportedError",
            "needs a value or text made of tensors",
            "The library runs while converting, when the text of a tensor is not known.",
            """
            import json

            def f(x):
                return x, json.dumps([str(x.sum())])
            """,
            """
            def f(x):
                return x, x.sum()
            """,
        ),
        _entry(
            "zip(strict=True) over unknown lengths",
            "UnsupportedError",
            "zip(strict=True) over tensors",
            "Lengths that only the run knows cannot be compared while converting.",
            """
            def f(x):
                big = x[x > 1]
                return [a * b for a, b in zip(big, big, strict=True)]
            """,
            """
            def f(x):
                big = x[x > 1]
                return big * big
            """,
        ),
        _entry(
            "Sorting what no tensor can hold",
            "UnsupportedError",
            "sorting by tensors",
            "The order is known only when the program runs, so the items must fit into one tensor.",
            """
            def f(x):
                return sorted([x[1:], x[:1]], key=lambda part: part.sum())
            """,
            """
            def f(x):
                return sorted([x[1], x[0]])
            """,
        ),
    ],
    "Recursion that a tensor stops": [
        _entry(
            "An argument that grows",
            "RecursionError",
            "is of another kind in each call",
            "Every call must take arguments of one structure, since all calls are one function of the program.",
            """
            def collect(x, items):
                if x.sum() > 100:
                    return items[0]
                return collect(x * 2, (*items, x))


            def f(x):
                return collect(x, (x,))
            """,
            """
            def collect(x, total):
                if x.sum() > 100:
                    return total
                return collect(x * 2, total + x)


            def f(x):
                return collect(x, x)
            """,
        ),
        _entry(
            "Recursion without an end",
            "RecursionError",
            "calls itself without end",
            "No tensor decides whether to go on, so Python's own recursion limit is reached while converting.",
            """
            def f(x):
                return f(x - 1)
            """,
            """
            def f(x):
                if x.sum() < 0:
                    return x
                return f(x - 1)
            """,
        ),
        _entry(
            "Every path calls again",
            "RecursionError",
            "so it never ends",
            "A recursive function needs a path without a further call.",
            """
            def f(x):
                if x.sum() > 100:
                    return f(x / 2)
                return f(x * 2)
            """,
            """
            def f(x):
                if x.sum() > 100:
                    return x
                return f(x * 2)
            """,
        ),
        _entry(
            "An argument changed in place that comes in twice",
            "UnsupportedError",
            "shares memory with another",
            "Inside the function each argument is a value of its own.",
            """
            def double(x, y):
                x.add_(y)
                if x.sum() > 100:
                    return x
                return double(x, y)


            def f(x):
                x = x * 1
                return double(x, x)
            """,
            """
            def double(x, y):
                x.add_(y)
                if x.sum() > 100:
                    return x
                return double(x, y)


            def f(x):
                x = x * 1
                return double(x, x.clone())
            """,
        ),
    ],
    "Exceptions": [
        _entry(
            "try around what a tensor decides",
            "UnsupportedError",
            "a tensor decides whether",
            "What is raised in the same function or in functions that it calls is caught. Where a call cannot be "
            "followed (in a comprehension or lambda, in a `with`), the program is given up where it raises, and the "
            "call runs eagerly. A loop that only such an error ends has no end while the program is built.",
            """
            def check(x):
                if x.sum() > 3:
                    raise ValueError("large")
                return x


            def f(x):
                while True:
                    try:
                        x = sum([check(v) for v in (x, x * 2)])
                    except ValueError:
                        return x
            """,
            """
            def f(x):
                while x.sum() <= 1:
                    x = x * 3
                return x
            """,
        ),
        _entry(
            "An exception after a change and a line for a file",
            "UnsupportedError",
            "after Python objects or arguments were changed",
            "Eager code runs again to change what it changes before it raises; the line would be written twice.",
            """
            import io

            counts = {"calls": 0}
            log = io.StringIO()

            def f(x):
                counts["calls"] += 1
                print("called", file=log)
                if x.sum() < 0:
                    raise ValueError("negative")
                return x
            """,
            """
            import io

            counts = {"calls": 0}
            log = io.StringIO()

            def f(x):
                if x.sum() < 0:
                    raise ValueError("negative")
                counts["calls"] += 1
                print("called", file=log)
                return x
            """,
        ),
        _entry(
            "What came before an exception",
            "UnsupportedError",
            "of an exception is read",
            "Python sets them when it raises; a handler in a program takes the exception from a variable.",
            """
            def f(x):
                try:
                    if x.sum() > 3:
                        raise KeyError("k")
                except KeyError as e:
                    return x * 2 if e.__context__ is None else x
                return x
            """,
            """
            def f(x):
                try:
                    if x.sum() > 3:
                        raise KeyError("k")
                except KeyError as e:
                    return x * 2 if e.__cause__ is None else x
                return x
            """,
        ),
        _entry(
            "raise without an exception",
            "RuntimeError",
            "No active exception",
            "As eagerly.",
            """
            def f(x):
                if x.sum() > 0:
                    raise
                return x
            """,
            """
            def f(x):
                if x.sum() < 0:
                    raise ValueError("negative")
                return x
            """,
        ),
    ],
    "Python that runs while converting": [
        _entry(
            "A library's object that its own code changes",
            "UnsupportedError",
            "that was there before",
            "Code of libraries is not converted: what it does to an object is not done again by a program.",
            """
            from collections import UserList

            calls = UserList()

            def f(x):
                calls.append(1)
                return x * 2
            """,
            """
            calls = []

            def f(x):
                calls.append(1)
                return x * 2
            """,
        ),
        _entry(
            "A number that differs at every call",
            "UnsupportedError",
            "a program would repeat what it gave",
            "Python runs once, while converting; the time, or what a file holds, would then be the same for ever. "
            "Random numbers of `random` and `numpy.random` are drawn by each run.",
            """
            import time


            def f(x):
                return x * time.time()
            """,
            """
            def f(x, now=1.0):  # called with now=time.time()
                return x * now
            """,
        ),
        _entry(
            "A buffer or array that one path changes",
            "UnsupportedError",
            "changes an object in a way that a program can neither undo",
            "Both branches are converted, and what they change in lists, dicts and your own objects is undone and "
            "merged. Byte arrays, buffers and NumPy arrays can't be: collect in a list what is to be changed.",
            """
            def f(x):
                found = bytearray()
                if x.sum() > 0:
                    found.append(1)
                return x + len(found)
            """,
            """
            def f(x):
                found = []
                if x.sum() > 0:
                    found.append(1)
                return x + len(found)
            """,
        ),
        _entry(
            "A text of tensors in a buffer made inside",
            "UnknownValueError",
            "into a buffer made in this function",
            "The buffer is read while converting, when the tensor has no value yet. Print into a buffer from outside: "
            "each call writes there.",
            """
            import io


            def f(x):
                out = io.StringIO()
                print(x.sum().item(), file=out)
                return x + len(out.getvalue())
            """,
            """
            def f(x):
                print(x.sum().item())
                return x + 1
            """,
        ),
        _entry(
            "The variables of the frame",
            "UnsupportedError",
            "reads the variables of the function around it",
            "Converted branches and loop bodies are functions of their own, so there is no frame with all variables. "
            "`locals()` is written out where it is certain which of them are set.",
            """
            def f(x):
                if x.sum() > 0:
                    y = x * 2
                return len(locals())
            """,
            """
            def f(x):
                y = x
                if x.sum() > 0:
                    y = x * 2
                return len(locals())
            """,
        ),
    ],
    "Arguments": [
        _entry(
            "What is no tensor",
            "DTypeError",
            "expects tensors, got object",
            "Operations take tensors and numbers.",
            """
            def f(x):
                return paddle.add(x, object())
            """,
            """
            def f(x):
                return paddle.add(x, x)
            """,
        ),
        _entry(
            "A range without a step",
            "ValueError",
            "range() arg 3 must not be zero",
            "As eagerly.",
            """
            def f(x):
                for i in range(0, x.sum().astype("int64"), 0):
                    x = x + i
                return x
            """,
            """
            def f(x):
                for i in range(0, x.sum().astype("int64"), 2):
                    x = x + i
                return x
            """,
        ),
        _entry(
            "The length of what a tensor bounds",
            "ArgumentError",
            "the length of this sequence is known only",
            "The number of items is known when the program runs.",
            """
            def f(x):
                return x * range(x.sum().astype("int64")).__len__()
            """,
            """
            def f(x):
                return x * x.sum()
            """,
        ),
        _entry(
            "An attribute that must be a Python value",
            "DTypeError",
            "needs the value of a tensor",
            "Attributes of an operation are part of the program, unless they are sizes or indices.",
            """
            def f(x):
                return paddle.histogram(x, bins=x.sum().astype("int64"))
            """,
            """
            def f(x):
                return paddle.histogram(x, bins=3)
            """,
        ),
        _entry(
            "A shape of unknown rank",
            "ArgumentError",
            "needs a 1-D tensor of known length",
            "How many dimensions there are must be known while converting.",
            """
            def f(x):
                return paddle.reshape(x, x[x > 0].astype("int64"))
            """,
            """
            def f(x):
                return paddle.reshape(x, [x.shape[0], 1])
            """,
        ),
        _entry(
            "A set in an order of the path",
            "UnsupportedError",
            "in which order Python has them depends on the path",
            "`in`, `len`, comparisons, operators, `sorted`, `min`, `max` and loops over small whole numbers work; in "
            "which order Python goes through others depends on what the set held before.",
            """
            def f(x):
                names = {"a"}
                if x.sum() > 0:
                    names.add("b")
                for name in names:
                    x = x * len(name)
                return x
            """,
            """
            def f(x):
                names = {"a"}
                if x.sum() > 0:
                    names.add("b")
                for name in ["a", "b"]:
                    if name in names:
                        x = x * len(name)
                return x
            """,
        ),
        _entry(
            "Keys that one path sets",
            "UnsupportedError",
            " a dict some of whose keys are set on one path of a tensor's decision only",
            "Loops, `in`, `d[key]`, `d.get()` and `len` work; Python itself would need to know which keys there are.",
            """
            import json


            def f(x):
                parts = {"a": 1}
                if x.sum() > 0:
                    parts["b"] = 2
                return x * len(json.dumps(parts))
            """,
            """
            import json


            def f(x):
                if x.sum() > 0:
                    return x * len(json.dumps({"a": 1, "b": 2}))
                return x * len(json.dumps({"a": 1}))
            """,
        ),
        _entry(
            "Sorting an unknown number of items",
            "UnsupportedError",
            "over a number of items known only when the program runs",
            "Python sorts one by one; a tensor operation does it at once.",
            """
            def f(x):
                return sorted(x[x > 1])
            """,
            """
            def f(x):
                return paddle.sort(x[x > 1])
            """,
        ),
    ],
    "Where functions come from": [
        _entry(
            "A generator as the target",
            "UnsupportedFunctionError",
            "generator functions are not converted",
            "A program gives its results at once.",
            """
            def f(x):
                for row in x:
                    yield row * 2
            """,
            """
            def f(x):
                return [row * 2 for row in x]
            """,
        ),
        _entry(
            "A coroutine as the target",
            "UnsupportedFunctionError",
            "coroutines",
            "A program does not wait.",
            """
            async def f(x):
                return x * 2
            """,
            """
            def f(x):
                return x * 2
            """,
        ),
        _entry(
            "Neither a function nor a Layer",
            "DTypeError",
            "expects a function or a Layer",
            "to_static converts what can be called.",
            """
            f = paddle.jit.to_static(3)
            """,
            """
            def f(x):
                return x * 3
            """,
        ),
    ],
    "Training inside": [
        _entry(
            "The gradient of one of two tensors",
            "UnsupportedError",
            "the gradient of a tensor of which a tensor decides which one it is",
            "Each of the two has a `.grad` of its own.",
            """
            def f(x):
                a, b = x.detach(), x.detach()
                a.stop_gradient = b.stop_gradient = False
                w = a if x.sum() > 0 else b
                (w * w).sum().backward()
                return w.grad
            """,
            """
            def f(x):
                a, b = x.detach(), x.detach()
                a.stop_gradient = b.stop_gradient = False
                w = a if x.sum() > 0 else b
                (w * w).sum().backward()
                return a.grad if x.sum() > 0 else b.grad
            """,
        ),
        _entry(
            "The gradient of a gradient",
            "UnsupportedError",
            "the gradient of what backward() has put into `.grad`",
            "A program keeps the gradients of parameters, not those of what its own backward() computed.",
            """
            w = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)

            def f(x):
                (w * w * x).sum().backward()
                (w.grad**2).sum().backward()
                return w.grad.grad
            """,
            """
            w = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)

            def f(x):
                slope = paddle.grad((w * w * x).sum(), w, create_graph=True)[0]
                return paddle.grad((slope**2).sum(), w)[0]
            """,
        ),
        _entry(
            "backward() through an earlier iteration",
            "UnsupportedError",
            "backward, in a loop or recursion that a tensor decides, through what it got from the iteration or call "
            "before",
            "How many iterations it would go back through is known only when the program runs.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                h = x * 0
                while h.sum() < 9:
                    h = h + w * x
                    h.sum().backward(retain_graph=True)
                return h
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                h = x * 0
                while h.sum() < 9:
                    part = w * x
                    part.sum().backward()
                    h = h + part.detach()
                return h
            """,
        ),
        _entry(
            "backward() in a loop through what is before it",
            "UnsupportedError",
            "backward, in a loop or recursion that a tensor decides, through what was computed before it",
            "The first backward frees it, so eager code raises in the second iteration, if there is one.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                h, n = w * x, x.sum()
                while n > 0:
                    h.sum().backward()
                    n = n - 10
                return x
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                h, n = w * x, x.sum()
                while n > 0:
                    h.sum().backward(retain_graph=True)
                    n = n - 10
                return x
            """,
        ),
        _entry(
            "backward() through what a branch may have freed",
            "UnsupportedError",
            "backward through add behind a branch or loop that a tensor decides, in which a backward freed it",
            "Eager code raises where that branch ran.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                h = w + x
                if x.sum() > 0:
                    h.sum().backward()
                (h * x).sum().backward()
                return x
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                h = w + x
                if x.sum() > 0:
                    h.sum().backward(retain_graph=True)
                (h * x).sum().backward()
                return x
            """,
        ),
        _entry(
            "backward() beyond the function",
            "UnsupportedError",
            "backward() to what computed a tensor from outside of the function",
            "A program differentiates what it computes itself.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            v = w * 2

            def f(x):
                (v * x).sum().backward()
                return x
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                (w * 2 * x).sum().backward()
                return x
            """,
        ),
        _entry(
            "A hook of a gradient that may not come",
            "UnsupportedError",
            "a hook of a tensor that gets a gradient on some paths of the program only",
            "A hook is called while the function is traced, with a gradient that is there.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            w.register_hook(lambda g: g * 2)

            def f(x):
                y = w * 2 if x.sum() > 0 else x
                y.sum().backward()
                return x
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            w.register_hook(lambda g: g * 2)

            def f(x):
                y = w * 2 if x.sum() > 0 else w * 0
                y.sum().backward()
                return x
            """,
        ),
        _entry(
            "A kept gradient leaves",
            "UnsupportedError",
            "a tensor with a gradient of its own leaves the function",
            "What a program gives out has no `.grad` yet.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                y = w * x
                y.retain_grads()
                y.sum().backward()
                return y
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                y = w * x
                y.retain_grads()
                y.sum().backward()
                return y.detach(), y.grad
            """,
        ),
        _entry(
            "A Layer made inside that is kept",
            "UnsupportedError",
            "that was made inside of the function leaves it",
            "Each run draws new parameters for the Layers that are made inside. Those that stay there are no problem.",
            """
            layers = []

            def f(x):
                layers.append(paddle.nn.Linear(3, 2))
                return layers[-1](x)
            """,
            """
            layers = [paddle.nn.Linear(3, 2)]

            def f(x):
                return layers[-1](x)
            """,
        ),
        _entry(
            "A Layer made inside that an optimizer trains",
            "UnsupportedError",
            "with a parameter that was made inside of the function",
            "What an optimizer keeps of a parameter outlasts the run; such a parameter does not.",
            """
            def f(x):
                layer = paddle.nn.Linear(3, 1)
                opt = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
                loss = layer(x).sum()
                loss.backward()
                opt.step()
                return loss.detach()
            """,
            """
            def f(x):
                paddle.seed(1)
                layer = paddle.nn.Linear(3, 1)
                loss = layer(x).sum()
                loss.backward()
                with paddle.no_grad():
                    for p in layer.parameters():
                        p.subtract_(0.1 * p.grad)
                return loss.detach()
            """,
        ),
        _entry(
            "A parameter made in a branch",
            "UnsupportedError",
            "a parameter that was made in a branch or loop",
            "A parameter belongs to the path that makes it.",
            """
            def f(x):
                if x.sum() > 0:
                    layer = paddle.nn.Linear(3, 2)
                else:
                    layer = paddle.nn.Linear(3, 2, bias_attr=False)
                return layer(x)
            """,
            """
            def f(x):
                paddle.seed(1)
                layer, other = paddle.nn.Linear(3, 2), paddle.nn.Linear(3, 2, bias_attr=False)
                return layer(x) if x.sum() > 0 else other(x)
            """,
        ),
        _entry(
            "A leaf leaves beside what it computed",
            "UnsupportedError",
            "a leaf that was made inside leaves the function beside a tensor that was computed from it",
            "Outside, both are results of one program, and nothing flows from the one to the other.",
            """
            def f(x):
                w = x * 1
                w.stop_gradient = False
                return w, w * 2
            """,
            """
            def f(x):
                w = x * 1
                w.stop_gradient = False
                return paddle.grad((w * 2).sum(), w)[0]
            """,
        ),
        _entry(
            "A parameter changed before backward()",
            "StaleBackwardError",
            "which was modified in place since",
            "As in eager code, backward needs what the parameter held.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                y = (w * w).sum()
                with paddle.no_grad():
                    w.add_(x)
                y.backward()
                return x
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                y = (w * w).sum()
                y.backward()
                with paddle.no_grad():
                    w.add_(x)
                return x
            """,
        ),
        _entry(
            "backward() twice",
            "StaleBackwardError",
            "backward ran through this part of the graph before and freed it",
            "As in eager code, the first one frees what it passes.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                y = (w * w).sum()
                y.backward()
                y.backward()
                return x
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                y = (w * w).sum()
                y.backward(retain_graph=True)
                y.backward()
                return x
            """,
        ),
        _entry(
            "A gradient of another shape",
            "ShapeError",
            "backward: grad_tensor has shape [2]",
            "As in eager code.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                (w * x).backward(paddle.ones([2]))
                return x
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                (w * x).backward(paddle.ones([3]))
                return x
            """,
        ),
        _entry(
            "A picture of backward()",
            "UnsupportedError",
            "backward: dump_backward_graph_path is not supported",
            "A program prints itself; that of a training step shows its backward operators.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                (w * x).sum().backward(dump_backward_graph_path="graphs")
                return x
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                (w * x).sum().backward()
                return x
            """,
        ),
        _entry(
            "An input that is not used",
            "ArgumentError",
            "is not used to compute the outputs",
            "As in eager code.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                return paddle.grad((x * 2).sum(), w)[0]
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                return paddle.grad((x * 2).sum(), w, allow_unused=True)[0]
            """,
            "paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)",
        ),
        _entry(
            "A gradient that is no tensor",
            "DTypeError",
            "grad: expects a Tensor or None",
            "As in eager code.",
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                w.grad = 3
                return x
            """,
            """
            w = paddle.ones([3])
            w.stop_gradient = False

            def f(x):
                w.grad = paddle.full([3], 3.0)
                return x
            """,
        ),
        _entry(
            "A scheduler that a tensor steps",
            "UnsupportedError",
            "ReduceOnPlateau.step where a tensor decides whether it is called",
            "Schedulers step when the program has run: as often as the run says, but not by what each loop computed.",
            """
            schedule = paddle.optimizer.lr.ReduceOnPlateau(0.1)

            def f(x):
                loss = x.sum()
                if loss < 10:
                    schedule.step(loss)
                return x * 2
            """,
            """
            schedule = paddle.optimizer.lr.ReduceOnPlateau(0.1)

            def f(x):
                loss = x.sum()
                schedule.step(loss if loss < 10 else paddle.full([], 10.0))
                return x * 2
            """,
        ),
        _entry(
            "A function marked with force_dynamic",
            "UnsupportedError",
            "is marked with force_dynamic",
            "The mark says that a function runs as Python; a whole program has no Python in it.",
            """
            @paddle.jit.marker.force_dynamic
            def scale(x):
                return x * 2

            def f(x):
                return scale(x) + 1
            """,
            """
            def scale(x):
                return x * 2

            def f(x):
                return scale(x) + 1
            """,
        ),
        _entry(
            "A scheduler read behind its step",
            "UnsupportedError",
            "which is called when the program has run",
            "Schedulers step when the program has run.",
            """
            schedule = paddle.optimizer.lr.StepDecay(0.1, 1)

            def f(x):
                schedule.step()
                schedule.set_state_dict({"last_epoch": 0, "last_lr": 0.1})
                return x * 2
            """,
            """
            schedule = paddle.optimizer.lr.StepDecay(0.1, 1)

            def f(x):
                schedule.step()
                return x * 2
            """,
        ),
    ],
}
ENTRIES = [Entry(**{**vars(e), "group": group}) for group, entries in GROUPS.items() for e in entries]

_SPEC = "an argument of to_static or of the tools around it; tests/jit"
_SHOWN = "tests/end_to_end: objects whose text waits for the run"
_EDITED = "needs a file that changed or vanished; tests/transformers/test_pipeline.py"
_BACKWARD = "raised by backward(), after conversion; tests/jit/test_gradients.py"
_TESTED = "raised by programs of tests/end_to_end"
_NET = "a safety net: no program is known that gets there"
_SETS = "raised by programs of tests/convert/test_sets_by_path.py"
_VALUES = "raised by programs of tests/convert/test_lists_of_values.py"
_DICTS = "raised by programs of tests/end_to_end/test_keys_errors.py"
_LISTS = "raised by programs of tests/end_to_end/test_growing_errors.py"
_MIXED = "raised by programs of tests/convert/test_mixed_items.py"
ELSEWHERE: dict[str, str] = {
    "backward ran through what the iteration before has computed, and freed it": "tests/jit/test_carried_losses.py",
    " as it was before a branch or loop that a tensor decides, which changes it in place":
        "tests/jit/test_carried_losses.py",
    "an array of NumPy's is given what only a run of the program knows": "tests/convert/test_arrays_of_programs.py",
    "a generator of random numbers is made in a loop or recursion that a tensor stops":
        "tests/convert/test_made_generators.py",
    "a generator of random numbers that was made inside is given back or kept in an object":
        "tests/convert/test_made_generators.py",
    "dynamic_dims: the tensor has ": "tests/jit/test_marker.py",
    "dynamic_dims: expects a tensor and an int or ints, got ": "tests/jit/test_marker.py",
    " is read of a tensor, and nothing in the program tells whether a gradient comes to it":
        "tests/jit/test_asked_flags.py",
    "a gradient with create_graph=True computes a compiled function once more; this one draws random numbers of "
    "Python or NumPy, and would draw others": "tests/convert/test_draws.py",
    "to_static: backend must be None or 'CINN', got ": "tests/static/test_executor.py",
    "the hook of a tensor of a program is removed after its run, or where a tensor decides": "tests/jit/test_hooks.py",
    "register_hook: tensor has stop_gradient=True, so it gets no gradient": "tests/jit/test_hooks.py",
    "register_hook() on a tensor of a program, in code that is not converted": "tests/jit/test_hooks.py",
    "a list that a recursive function makes leaves the function, may hold a tensor twice that the calls made, and "
    "nothing in the program tells which of its items are one object": "tests/jit/test_objects_in_lists.py",
    "a container that a tensor changes is held in several places": _NET,
    "a generator that only Python itself can run": "nobody sees it: the generator is left to Python",
    " one operand of `is` is, so whether they are the same object is not known yet": "tests/convert/test_needed_now.py",
    "a tensor decided which tensor it is that is put into a set, or given to id() or hash()":
        "tests/convert/test_told_apart.py",
    "`is` between numbers that are known only when the program runs": "tests/convert/test_needed_now.py",
    "an iterator, or a slice made of tensors, is given back or kept in an object": "tests/convert/test_needed_now.py",
    " that was made inside is given back or kept in an object": "tests/convert/test_unmerged.py",
    "next() of what goes through tensors (enumerate, zip, map, reversed, range)": "tests/convert/test_needed_now.py",
    " was changed in place, by the function or after it, and this backward computes the function once more "
    "(it goes back from some results, or is differentiated)": "tests/jit/test_kept.py",
    " is read, which one path of a tensor's decision leaves unset": "tests/convert/test_unset_values.py",
    "a value that is None on one path of a tensor's decision is used where it may still be None": (
        "tests/convert/test_optional.py"
    ),
    " leaves the function that a tensor decides to be another ": "raised by programs of tests/end_to_end/places.py",
    "to_static: build_strategy takes a paddle.static.BuildStrategy, got ": "tests/static/test_executor",
    "the key that a dictionary is asked for is known only when the program runs": "tests/jit/test_numbers",
    "whether the power of numbers that change is an int or a float is not known": "tests/jit/test_numbers",
    " of a variable of a program": "gradients of programs written by hand; tests/static",
    "run_program: backward ran through this part of the graph inside of the function and freed it": _BACKWARD,
    " of a number that is known only when the program runs": "raised by programs of tests/convert/test_caught.py",
    "), given a tensor that has a value only when the program runs; a handler here would take that for an error of its "
    "own": "raised by programs of tests/convert/test_caught.py",
    "a number in a set that is known only when the program runs": "raised by programs of tests/convert/test_caught.py",
    "host_callback: out must be an InputSpec or a list of them": _SPEC,
    "host_callback: the function gave ": _SPEC,
    "host_callback: vjp gave ": _SPEC,
    " changes its length or nesting inside a loop that stops by a tensor condition": _TESTED,
    "a list whose length is known only when the program runs leaves the function with Python numbers and tensors as "
    "items": _MIXED,
    "an item of a list of Python numbers and tensors leaves the function, and nothing in the program tells which of "
    "them it is": _MIXED,
    " changes its length inside a loop or branch that a tensor decides, and it was not made by converted code": _LISTS,
    " of a list of containers whose length is known only when the program runs": _LISTS,
    "sorting by keys that are no tensors of one element": _LISTS,
    "a tensor made of a list whose length is known only when the program runs, and whose items are no numbers, "
    "tensors or tuples of such": "tests/convert/test_open_results.py",
    " that holds tensors is an item of a list whose length is known only when the program runs": _VALUES,
    "a list grows in a loop or branch that a tensor decides, and its items hold nothing that the program knows":
    _LISTS,
    "a list whose length is known only when the program runs holds lists that change their length later": _NET,
    "a list is changed that is also an item of a list whose length is known only when the program runs": _LISTS,
    "a list is read that may have been changed as an item of another list, whose length is known only when the program "
    "runs": _LISTS,
    "lists leave the function that may have an inner list in common, or a dict or object, or have one twice, as only "
    "the run knows": _LISTS,
    " of a list whose length is known only when the program runs": _LISTS,
    "` called with *values, whose number is known only when the program runs: ": _LISTS,
    "a call with *values, whose number is known only when the program runs: there are ":
    "tests/convert/test_starred_calls.py",
    "`zip` called with *rows, whose number is known only when the program runs: how long each is must be "
    "known, and without strict=True": _LISTS,
    "a tensor as the key of a dict: its value is known only when the program runs": _LISTS,
    " after it; a loop that stops by a tensor condition can carry only tensors and numbers": _NET,
    " on one path of an `if` that a tensor decides": _TESTED,
    "a tensor leaves the function that is a leaf on one path of a tensor's decision, and on the other is none or has "
    "been used": "tests/jit/test_leaves_on_paths.py",
    " that the body of a loop changes in place and then exchanges for another one; a tensor stops the loop": _TESTED,
    " returns a list or dict that was there before it was called, inside another one or beside it": _TESTED,
    " changes what its argument ": _NET,
    " that holds tensors cannot be shown or passed on when the program runs": _SHOWN,
    " changes dtype inside a tensor loop, to one that does not mix with it": _NET,
    ") does not settle: shapes or types keep changing from one trace of the body to the next": _NET,
    " takes and returns does not settle: shapes or types keep changing from one call to the next": _NET,
    " returns differs between its paths: ": _NET,
    "a tensor decides whether the next item of a ": _TESTED,
    " changes Python objects, each time that gradients are computed; a program's runs no Python":
    "tests/convert/test_pylayer.py",
    " is set; the dict was not made by converted code": _DICTS,
    "dictionary changed size during iteration": "Python's own words for what it finds wrong with the loop",
    " changed size during iteration": "Python's own words for what it finds wrong with the loop",
    ": what is in it differs between the paths of a tensor's decision": _DICTS,
    "Python goes through a dict whose keys stand in an order that a tensor decides, or they are too many":
    _DICTS,
    "an item of a list of unknown length is a dict or set, and what is in it differs between the paths of a tensor's "
    "decision": _SETS,
    "a tensor is added to a set, or removed, on one path of a tensor's decision only: a set holds it as an object, "
    "which the other path does not have": _SETS,
    " a set some of whose items are added on one path of a tensor's decision only": _SETS,
    "sorting by keys that have no order: ": _VALUES,
    "a list whose length is known only when the program runs holds lists, in which Python values differ": _VALUES,
    "Set changed size during iteration": "Python's own words for what it finds wrong with the loop",
    "deque mutated during iteration": "Python's own words for what it finds wrong with the loop",
    " given as argument or from outside is taken here; a program runs no Python": _TESTED,
    "the body of a loop that stops by a tensor condition raises in a later iteration (": _TESTED,
    " is set on one path of a tensor's decision only, and leaves the function in a container, which would have it on "
    "every path": _TESTED,
    "a container or function that holds itself leaves a function being converted": _NET,
    "enable_to_static: expects a bool, got ": _SPEC,
    "explain: expects a function or a Layer, got ": _SPEC,
    "input_spec: expects a list or tuple, got ": _SPEC,
    "an input_spec is needed to build the program without a call": _SPEC,
    ", input_spec asks for ": _SPEC,
    " values where the call has ": _SPEC,
    "run_program: backward ran through this compiled segment before and freed it": _BACKWARD,
    " needed by backward was modified in place after the compiled segment ran: its version is ": _BACKWARD,
    "` is not what was compiled: no such definition at ": _EDITED,
    "the source of function `": _EDITED,
    " does not parse: ": _EDITED,
}
"""Fixed texts of errors that no program of this table shows, and why."""
