"""Tiles: the emulation against the manual's words in exact arithmetic, and the instructions as they are written."""

import ctypes
import os
import re
import signal
from fractions import Fraction

import llvmlite.binding
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.codegen.test_pointwise import guarded
from vitrify.codegen import gemm_amx, llvm
from vitrify.codegen.matrix_tiles import CONFIGURATION_BYTES, AmxTiles, EmulatedTiles, configuration_into
from vitrify.codegen.native import loaded
from vitrify.codegen.writer import Writer

pytestmark = [
    pytest.mark.skipif(bool(llvm.why_not_here()), reason="nothing can be compiled here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
BF16 = np.dtype(ml_dtypes.bfloat16)
WORD, POINTER = ctypes.c_int64, ctypes.c_void_p
SUMS, A, B = 0, 1, 2


def functions_ir():
    """Each operation on memory that is given, and a product of three tiles whose shapes are."""
    tiles = EmulatedTiles()
    product = Writer("void", "product", (
        "ptr %state", "i64 %rows", "i64 %columns", "i64 %pairs", "ptr %sums", "ptr %a", "ptr %b", "i64 %step"
    ))  # fmt: skip
    w = product
    wide, deep = w.times("%columns", 4), w.times("%pairs", 4)
    configuration_into(w, "%state", [("%rows", wide), ("%rows", deep), ("%pairs", wide)])
    tiles.configure(w, "%state")
    for tile, at in ((SUMS, "%sums"), (A, "%a"), (B, "%b")):
        tiles.load(w, "%state", tile, at, "%step")
    tiles.dot(w, "%state", SUMS, A, B)
    tiles.store(w, "%state", SUMS, "%sums", "%step")
    w.line("ret void")
    configure = Writer("void", "configure", ("ptr %state",))
    tiles.configure(configure, "%state")
    configure.line("ret void")
    return "\n\n".join([product.text, configure.text, *tiles.functions()])


@pytest.fixture(scope="module")
def functions():
    found = loaded(functions_ir(), ("product", "configure", "emulated_zero", "emulated_dot")).addresses
    given = {"product": [POINTER, WORD, WORD, WORD, POINTER, POINTER, POINTER, WORD], "configure": [POINTER],
             "emulated_zero": [POINTER, WORD], "emulated_dot": [POINTER, WORD, WORD, WORD]}  # fmt: skip
    return {name: ctypes.CFUNCTYPE(None, *types)(found[name]) for name, types in given.items()}


def state():
    return np.zeros(EmulatedTiles().state_bytes, np.uint8)


def product(functions, sums, a, b):
    """sums + a b for one tile each: sums of float32; a in rows, b in lines of pairs."""
    rows, columns, pairs = *sums.shape, a.shape[1] // 2
    room = [np.full((16, 64), 0x55, np.uint8) for _ in range(3)]
    for memory, array in zip(room, (sums, a, b)):
        content = np.ascontiguousarray(array).view(np.uint8)
        memory[: content.shape[0], : content.shape[1]] = content
    held = state()
    functions["product"](held.ctypes.data, rows, columns, pairs, *(m.ctypes.data for m in room), 64)
    assert (room[0][rows:] == 0x55).all() and (room[0][:, 4 * columns :] == 0x55).all()
    return np.ascontiguousarray(room[0][:rows, : 4 * columns]).view(np.float32)


def rounded(x):
    """The nearest number of 24 bits, the even one on a tie; what is below 2**-126 then is zero."""
    if x == 0:
        return Fraction(0)
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    exponent += Fraction(2) ** exponent <= abs(x)
    unit = Fraction(2) ** (exponent - 24)
    found = round(x / unit) * unit  # Python rounds fractions to the even neighbour
    return found if abs(found) >= Fraction(2) ** -126 else Fraction(0)


def exact(x):
    """A finite number, denormal ones as zeros."""
    found = Fraction(float(x))
    return found if abs(found) >= Fraction(2) ** -126 else Fraction(0)


def as_the_manual_says(sums, a, b):
    found = np.empty_like(sums)
    for m, n in np.ndindex(*sums.shape):
        halves = [Fraction(0), Fraction(0)]
        for k in range(a.shape[1] // 2):
            for half in range(2):
                x, y = exact(a[m, 2 * k + half]), exact(b[k, 2 * n + half])
                halves[half] = rounded(halves[half] + x * y)
        found[m, n] = float(rounded(exact(sums[m, n]) + rounded(halves[0] + halves[1])))
    return found


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(1, 16), columns=st.integers(1, 16), pairs=st.integers(1, 16),
       power=st.sampled_from([0, -60, -63, -64, -66]), seed=st.integers(0, 99))  # fmt: skip
def test_a_product_is_what_the_manual_says(functions, rows, columns, pairs, power, seed):
    """To the bit, also where products and sums are about as small as normal numbers can be."""
    rng = np.random.default_rng(seed)
    scale = 2.0**power
    a = (rng.standard_normal((rows, 2 * pairs)) * scale).astype(BF16)
    b = (rng.standard_normal((pairs, 2 * columns)) * scale).astype(BF16)
    sums = (rng.standard_normal((rows, columns)) * scale**2).astype(np.float32)
    with np.errstate(under="ignore"):
        wanted = as_the_manual_says(sums, a, b)
    assert np.array_equal(product(functions, sums, a, b), wanted)


def one(functions, sums, a, b):
    """The sum of one element each, with its pair."""
    found = product(functions, np.array([[sums]], np.float32), np.array([a], BF16), np.array([b], BF16))
    return float(found[0, 0])


def test_the_smallest_numbers(functions):
    least = 2.0**-126
    assert one(functions, 0, [1, 0], [least, 0]) == least
    assert one(functions, 0, [1, 0], [least / 2, 0]) == 0, "a denormal operand is zero"
    assert one(functions, least / 2, [0, 0], [0, 0]) == 0, "so is a denormal sum"
    assert one(functions, 0, [0.5, 0], [least, 0]) == 0, "and a denormal product"
    assert one(functions, 0, [0.5, 0.5], [least, least]) == 0, "before it is added to another"
    assert one(functions, 0, [1.5, -1], [least, least]) == 0, "and what is left of normal ones"
    assert one(functions, -least, [1.5, 0], [least, 0]) == 0
    assert np.signbit(one(functions, -0.0, [-0.5, -0.5], [least, least])), "with its sign"


@pytest.mark.parametrize("share, wanted", [(0.75, 0.0), (0.25, 2.0**-126)])
def test_a_result_is_denormal_that_is_so_once_it_is_rounded(functions, share, wanted):
    """To 24 bits, as if exponents had no least: 2**-126 less a share of 2**-150, which is a unit there. In the steps of
    denormal numbers, 2**-149, both would be 2**-126.
    """
    a, b = np.array([[1, 0, -(2.0**-30), 0]], BF16), np.array([[2.0**-126, 0], [share * 2.0**-120, 0]], BF16)
    sums = np.zeros((1, 1), np.float32)
    assert product(functions, sums, a, b)[0, 0] == wanted == as_the_manual_says(sums, a, b)[0, 0]


def test_what_is_no_number(functions):
    inf = float("inf")
    assert one(functions, 0, [inf, 0], [1, 0]) == inf
    assert np.isnan(one(functions, 0, [inf, 0], [0, 0])) and np.isnan(one(functions, inf, [-inf, 0], [1, 0]))
    assert one(functions, 0, [2.0**100, 0], [2.0**100, 0]) == inf


def test_nothing_beside_the_rows_is_touched(functions):
    for rows, columns, pairs in ((1, 1, 1), (3, 5, 7), (16, 16, 16)):
        step = 4 * max(columns, pairs)
        kept = []
        arrays = []
        for lines, width in ((rows, columns), (rows, pairs), (pairs, columns)):
            array, memory = guarded(((lines - 1) * step + 4 * width) // 4, np.float32)
            array[:] = 0
            arrays.append(array)
            kept.append(memory)
        held = state()
        functions["product"](held.ctypes.data, rows, columns, pairs, *(x.ctypes.data for x in arrays), step)
        assert all((x == 0).all() for x in arrays)
        del arrays, array
        del kept


# -- what a CPU refuses ------------------------------------------------------------------------------------------------


def ends(work):
    """The signal that ends a process of its own which does this; 0 where it comes to its end."""
    child = os.fork()
    if child == 0:
        try:
            for fault in (signal.SIGILL, signal.SIGTRAP):
                signal.signal(fault, signal.SIG_DFL)
            work()
        finally:
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


FAULTS = (signal.SIGILL, signal.SIGTRAP)


def configuration(*shapes):
    made = state()
    made[0] = 1
    for tile, (rows, colsb) in enumerate(shapes):
        made[16 + 2 * tile : 18 + 2 * tile] = np.array([colsb], np.uint16).view(np.uint8)
        made[48 + tile] = rows
    return made


@pytest.mark.parametrize("shapes", [[], [(16, 64)] * 8, [(1, 4), (0, 0), (3, 5)]])
def test_a_configuration_that_is_taken(functions, shapes):
    made = configuration(*shapes)
    assert ends(lambda: functions["configure"](made.ctypes.data)) == 0


@pytest.mark.parametrize("byte, value", [(0, 0), (0, 2), (1, 1), (2, 1), (15, 1), (32, 1), (47, 1), (56, 1), (63, 1),
                                         (16, 65), (17, 1), (48, 17), (48, 0), (16, 0)])  # fmt: skip
def test_a_configuration_that_is_refused(functions, byte, value):
    made = configuration((16, 64))
    made[byte] = value
    assert ends(lambda: functions["configure"](made.ctypes.data)) in FAULTS


@pytest.mark.parametrize("shapes", [
    [(3, 16), (2, 8), (2, 16)], [(3, 16), (3, 8), (2, 12)], [(3, 16), (3, 8), (3, 16)], [(3, 14), (3, 8), (2, 14)],
    [(3, 16), (3, 8)],
])  # fmt: skip
def test_products_of_tiles_that_do_not_fit_are_refused(functions, shapes):
    made = configuration(*shapes)

    def work():
        functions["configure"](made.ctypes.data)
        functions["emulated_dot"](made.ctypes.data, SUMS, A, B)

    assert ends(work) in FAULTS
    held = state()
    assert ends(lambda: functions["emulated_zero"](held.ctypes.data, 0)) in FAULTS, "nothing is configured"


# -- the instructions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows, columns, depth", [(32, 32, 16), (16, 32, 16), (32, 16, 3), (17, 1, 1), (1, 17, 16)])
def test_the_configuration_of_a_block(rows, columns, depth):
    """Palette, bytes of a row and rows at the places that the manual says; tiles that are not used have neither."""
    text = gemm_amx.gemm_ir(EmulatedTiles())
    address = loaded(text, ("configuration_amx",)).addresses["configuration_amx"]
    made = np.full(CONFIGURATION_BYTES, 99, np.uint8)
    ctypes.CFUNCTYPE(None, POINTER, WORD, WORD, WORD)(address)(made.ctypes.data, rows, columns, depth)
    highs, wides = ([min(size, 16), max(size - 16, 0)] for size in (rows, columns))
    shapes = [(r if c else 0, 4 * c if r else 0) for r in highs for c in wides]
    shapes += [(r, 4 * depth if r else 0) for r in highs] + [(depth if c else 0, 4 * c) for c in wides]
    assert np.array_equal(made, configuration(*shapes)[:CONFIGURATION_BYTES])


@pytest.fixture(scope="module")
def assembly():
    """The functions as a CPU with AMX would get them, by name: lists of instructions."""
    if not llvm.host().is_x86:
        pytest.skip("a processor of another kind")
    target = llvmlite.binding.Target.from_triple(llvm.host().triple)
    machine = target.create_target_machine(
        cpu="x86-64-v4",
        features="+amx-tile,+amx-bf16,+avx512bf16",
        opt=1,
        reloc="pic",
        codemodel="jitdefault",
        jit=True,
    )
    text = machine.emit_assembly(llvm.optimized(gemm_amx.gemm_ir(AmxTiles()), machine))
    found, name = {}, ""
    for line in text.splitlines():
        if match := re.match(r"(\w+):", line):
            name = match[1]
        elif line.startswith("\t") and not line.startswith("\t."):
            found.setdefault(name, []).append(line.strip().replace("\t", " "))
    return found


def numbers(line):
    return [int(n) for n in re.findall(r"tmm(\d)", line)]


def test_instructions_of_a_block(assembly):
    lines = assembly["block_amx"]
    assert sum(line.startswith("ldtilecfg ") for line in lines) == 1
    tiles = [line for line in lines if "tmm" in line]
    # All four of a block, two of two kinds, and one: each with its zeros or what it begins with, its products, its end.
    first = next(i for i, line in enumerate(tiles) if line.startswith("tdpbf16ps"))
    products = [numbers(line) for line in tiles if line.startswith("tdpbf16ps")]
    # AT&T's order is the last operand first: of b, of a, the sums.
    assert products[:4] == [[6, 4, 0], [7, 4, 1], [6, 5, 2], [7, 5, 3]]
    assert products[4:] == [[6, 4, 0], [6, 5, 2], [6, 4, 0], [7, 4, 1], [6, 4, 0]]
    assert [n for line in tiles[first - 4 : first] for n in numbers(line)] == [6, 7, 4, 5]
    assert all(line.startswith("tileloadd ") for line in tiles[first - 4 : first])
    assert [n for line in tiles[first + 4 : first + 8] for n in numbers(line)] == [0, 1, 2, 3]
    assert all(line.startswith("tilestored ") for line in tiles[first + 4 : first + 8])
    kinds = [line.split()[0] for line in tiles]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "tilezero": 9, "tileloadd": 9 + 4 + 3 + 3 + 2, "tdpbf16ps": 9, "tilestored": 9
    }  # fmt: skip


def test_tiles_are_released_before_the_function_ends(assembly):
    lines = assembly["gemm_amx"]
    released, ended = (
        next(i for i, line in enumerate(lines) if line.startswith(word)) for word in ("tilerelease", "ret")
    )
    assert released < ended and not any("call" in line for line in lines[released:ended])
    assert sum(line.startswith(("tilerelease", "ret")) for line in lines) == 2


def test_sums_are_rounded_by_one_instruction(assembly):
    assert any(line.startswith("vcvtneps2bf16") for line in assembly["rounded_amx"])
    assert not any("trunc" in line for lines in assembly.values() for line in lines)


def rounding_ir(tiles, name):
    w = Writer("void", name, ("ptr %to", "ptr %from"))
    found = tiles.rounded(w, *(w.load("%from", i, "<16 x float>", 4) for i in range(2)))
    w.store(found, "%to", 0, "<32 x i16>", 2)
    w.line("ret void")
    return w.text


HAS_PAIRS = not llvm.why_not_here() and llvm.host().has_bf16_pairs


@pytest.mark.skipif(not HAS_PAIRS, reason="the instruction is of AVX512-BF16")
def test_the_rounding_instruction_does_what_the_emulation_does():
    """This one any CPU with pairs has."""
    both = []
    values = np.random.default_rng(0).integers(0, 2**32, (2000, 32), np.uint32)
    values[:400] = values[:400] & 0xFFFF0000 | np.array([0x7FFF, 0x8000, 0x8001, 0], np.uint32).repeat(8)
    values[400:500] &= 0x80FFFFFF  # around the smallest normal numbers
    values[500:600] |= 0x7F800000  # infinities and what is no number
    for tiles, name in ((AmxTiles(), "by_instruction"), (EmulatedTiles(), "by_emulation")):
        function = ctypes.CFUNCTYPE(None, POINTER, POINTER)(
            loaded("\n\n".join([rounding_ir(tiles, name), *tiles.functions()]), (name,)).addresses[name]
        )
        found = np.zeros((2000, 32), np.uint16)
        for i in range(len(values)):
            function(found[i].ctypes.data, values[i].ctypes.data)
        both.append(found)
    assert np.array_equal(*both)
