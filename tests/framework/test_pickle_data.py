"""Pickles as data: what Paddle and NumPy write is read; nothing in a file can run, hang or eat memory."""

import os
import pickle
import pickletools
import struct
import sys
import tracemalloc
from collections import OrderedDict
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vitrify.core.errors import FileFormatError
from vitrify.framework.paddle_files import from_paddle
from vitrify.framework.pickle_data import looks_pickled, read_pickle

WATCHED = ("exec", "compile", "os.", "subprocess.", "pickle.find_class", "ctypes.", "code.")
SEEN: list[list[str]] = []  # one list of events for each watch that is on


def _hook(event, _):
    if SEEN and event.startswith(WATCHED):
        SEEN[-1].append(event)


sys.addaudithook(_hook)


@contextmanager
def nothing_runs():
    """Fail if Python was asked to compile, execute, start or look up anything inside."""
    SEEN.append([])
    try:
        yield
        assert not SEEN[-1]
    finally:
        SEEN.pop()


def read(data):
    with nothing_runs():
        return read_pickle(data, "the file")


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_plain_objects(protocol):
    shared = [1, 2]
    value = {
        "a": (1, -2, 2**70, 1.5, True, None, "é", b"\0\xff", 1 + 2j),
        5: [shared, shared, (), {}, []],
        "o": OrderedDict(z=1),
        (1, "k"): "long " * 100,
        "many": list(range(3000)),
    }
    data = pickle.dumps(value, protocol)
    assert looks_pickled(data[:2])
    assert repr(read(data)) == repr(value)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype="float32").reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.array(True),
        np.zeros((0, 4), "complex64"),
        np.arange(3, dtype=">i2"),
        np.arange(4, dtype="uint8")[::2],
        np.float16(1.5),
        np.int64(7),
    ],
    ids=repr,
)
def test_arrays_and_scalars(protocol, array):
    found = read(pickle.dumps([array, array], protocol))[0]
    np.testing.assert_array_equal(found, array)
    assert type(found) is type(array)
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.shape == array.shape


def test_old_names_of_numpys_functions():
    data = pickle.dumps(np.arange(3), 2).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert read(data).tolist() == [0, 1, 2]


class Call:
    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


class Plain:
    """Pickled with NEWOBJ and BUILD."""

    def __init__(self):
        self.x = 1


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Call(os.system, "echo run"), r"asks for (posix|nt)\.system"),
        (Call(eval, "1"), r"asks for (builtins|__builtin__)\.eval"),
        (Call(getattr, 1, "real"), "getattr; only arrays and plain containers are loaded, never code"),
        (np.array([Call(os.system, "echo run")], dtype=object), r"system|arrays of 'O8'"),
        (np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f4")]), "arrays of 'V8' cannot be read"),
        (np.array(["text"]), r"arrays of 'U\d*' cannot be read"),
        (np.array([None]), "arrays of 'O8' cannot be read"),
        (Plain(), r"more than arrays and plain data|asks for .*Plain"),
        ({1, 2}, "more than arrays|asks for .*set"),
        (np.array, "asks for numpy.*array"),
        (np.ndarray, "holds an array without data, or a function"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_refused_by_name(protocol, value, message):
    with pytest.raises(FileFormatError, match=message):
        read(pickle.dumps({"a": value}, protocol))


def ops(*parts):
    return b"\x80\x04" + b"".join(parts) + b"."


SAFE_BUT_NONSENSE = {
    "nothing": ops(),
    "two values": ops(b"N", b"N"),
    "no stop": b"\x80\x04N",
    "mark left": ops(b"(", b"N"),
    "tuple of nothing": ops(b"\x86"),
    "append to a dict": ops(b"}", b"N", b"a"),
    "append to nothing": ops(b"N", b"a"),
    "item of a list": ops(b"]", b"N", b"N", b"s"),
    "odd items": ops(b"}", b"(", b"N", b"u"),
    "unknown memo": ops(b"h\x07"),
    "unhashable key": ops(b"}", b"]", b"N", b"s"),
    "call a string": ops(b"\x8c\x01x", b")", b"R"),
    "call with a list": ops(b"cnumpy\ndtype\n", b"]", b"R"),
    "call ndarray": ops(b"cnumpy\nndarray\n", b")", b"R"),
    "dtype of a list": ops(b"cnumpy\ndtype\n", b"]", b"\x85", b"R"),
    "state of a dict": ops(b"}", b"}", b"b"),
    "state of a list": ops(b"]", b"}", b"b"),
    "state of a dtype": ops(b"cnumpy\ndtype\n", b"\x8c\x02f4", b"\x85R", b"N", b"b"),
    "array with no state": ops(b"cnumpy.core.multiarray\n_reconstruct\n", b")", b"R"),
    "array with a number as state": ops(b"cnumpy.core.multiarray\n_reconstruct\n", b")", b"R", b"K\x01", b"b"),
    "text in utf-16": ops(b"c_codecs\nencode\n", b"\x8c\x01x", b"\x8c\x06utf-16", b"\x86R"),
    "global without a name": ops(b"cnumpy\n\n"),
    "stack global of numbers": ops(b"K\x01K\x02\x93"),
    "long number": ops(b"L" + b"9" * 5000 + b"L\n"),
    "persistent id": ops(b"Pmodule\n"),
    "old instance": ops(b"(ios\nsystem\n"),
    "old object": ops(b"(", b"cnumpy\ndtype\n", b"o"),
    "new object": ops(b"cnumpy\ndtype\n", b")", b"\x81"),
    "extension": ops(b"\x82\x01"),
    "protocol 5": b"\x80\x05N.",
    "buffer": ops(b"\x97"),
    "more bytes than there are": ops(b"\x8e" + struct.pack("<Q", 2**62) + b"x"),
    "more text than there is": ops(b"\x8d" + struct.pack("<Q", 2**40)),
    "bytearray": ops(b"\x96" + struct.pack("<Q", 2**40)),
    "frame of nothing": ops(b"\x95" + struct.pack("<Q", 2**60)),
}


@pytest.mark.parametrize("data", SAFE_BUT_NONSENSE.values(), ids=SAFE_BUT_NONSENSE)
def test_nonsense_is_refused(data):
    tracemalloc.start()
    with pytest.raises(FileFormatError):
        read(data)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


def test_a_far_memo_costs_nothing():
    data = ops(b"N", b"r" + struct.pack("<I", 2**32 - 1))
    assert read(data) is None


def test_a_list_in_itself_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(FileFormatError, match="contains itself"):
        read(pickle.dumps(endless, 4))


def test_shared_parts_are_visited_once():
    value = np.arange(2)
    for _ in range(60):  # 2**60 parts if they were visited one by one
        value = [value, value]
    found = from_paddle(read(pickle.dumps(value, 4)), return_numpy=True, keep_names=False)
    assert found[0] is found[1]


def test_a_key_that_takes_for_ever_to_hash_is_refused():
    key = b"K\x01q\x00"  # 1, then sixty times: a tuple of twice what was made last
    for i in range(60):
        key += b"h" + bytes([i]) + b"\x86q" + bytes([i + 1])
    with pytest.raises(FileFormatError, match="a dict with a tuple as key"):
        read(ops(b"}", key, b"N", b"s"))


@given(st.binary(max_size=200))
def test_noise_is_read_or_refused(noise):
    for data in (noise, b"\x80\x04" + noise):
        try:
            read(data)
        except FileFormatError:
            pass


INSTRUCTIONS = st.sampled_from([op.code.encode("latin1") for op in pickletools.opcodes])


@given(st.lists(st.one_of(INSTRUCTIONS, st.binary(max_size=4)), max_size=30))
def test_random_instructions_are_read_or_refused(parts):
    try:
        read(ops(*parts))
    except FileFormatError:
        pass


# --- tensors that Paddle cut into slices -----------------------------------------------------------------------------


def sliced(shape=(2, 3), slices=("w@@.0", "w@@.1")):
    flat = np.arange(6, dtype="float32")
    return {
        "b": np.ones(2, "float32"),
        "StructuredToParameterName@@": {"w": "linear_0.w_0", "b": "linear_0.b_0"},
        "w@@.0": flat[:4],
        "w@@.1": flat[4:],
        "UnpackBigParamInfor@@": {"w": {"OriginShape": shape, "slices": list(slices)}},
    }


def test_slices_become_one_tensor():
    state = from_paddle(sliced(), return_numpy=False, keep_names=False)
    assert sorted(state) == ["b", "w"]
    assert state["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert state["w"].name == "linear_0.w_0"


@pytest.mark.parametrize(
    "state",
    [
        sliced((2, 4)),
        sliced("23"),
        sliced((2.0, 3)),
        sliced(slices=["w@@.0"]),
        sliced(slices=["w@@.0", "x"]),
        sliced(slices=[]),
    ],
)
def test_slices_that_do_not_fit_are_refused(state):
    with pytest.raises(FileFormatError, match="slices"):
        from_paddle(state, return_numpy=False, keep_names=False)
