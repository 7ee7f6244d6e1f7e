"""Keys compared by identity."""

import gc

from vitrify.core.identity import ById, WeakIdentityMap


def code_of(file, depth=1):
    """Code of one text, said to be in `file`, with functions nested in each other."""
    lines = ["    " * level + f"def f{level}():" for level in range(depth)]
    return compile("\n".join([*lines, "    " * depth + "return 1"]), file, "exec").co_consts[0]


def test_equal_code_of_two_files_is_told_apart():
    first, second = code_of("a.py"), code_of("b.py")
    assert first == second
    assert ById(first) == ById(first)
    assert ById(first) != ById(second)
    assert len({ById(first), ById(second), ById(first)}) == 2
    assert repr(ById(first)) == "<code object>"


def test_weakly_known():
    known = WeakIdentityMap()
    first, second = code_of("a.py"), code_of("b.py")
    known.put(first, "a")
    assert known.get(second) is None
    known.put(second, "b")
    assert (known.get(first), known.get(second)) == ("a", "b")
    known.put(first, "c")
    assert known.get(first) == "c"
    del first
    gc.collect()
    assert known.get(second) == "b"
    assert len(known._held) == 1
