"""Products with windows in place against NumPy's, for vectors of both widths, and nothing outside of the arrays."""

import ctypes

import numpy as np
import pytest

from tests.codegen.test_pointwise import guarded
from vitrify.codegen import llvm, window_sums, windows
from vitrify.codegen.native import loaded
from vitrify.codegen.pointwise import attributes
from vitrify.codegen.window_steps import fewest_pieces, pieces_of, spread_pieces

HAS_NONE = bool(llvm.why_not_here()) or not llvm.host().is_x86
pytestmark = pytest.mark.skipif(HAS_NONE, reason="vectors of x86-64")
WORD, POINTER = ctypes.c_int64, ctypes.c_void_p
PRODUCT = [WORD, WORD, POINTER, WORD, *[POINTER] * 4, WORD, POINTER, WORD, POINTER, POINTER, WORD, WORD, POINTER]
DOTS = [WORD, WORD, POINTER, WORD, *[POINTER] * 3, WORD, POINTER, WORD, POINTER]
F32 = np.dtype(np.float32)
SIZES = (1, 2, 3, 5, 6, 7, 11, 12, 13, 17, 24, 25, 193)
TILES = windows.product_tiles, windows.dots_tiles


def levels():
    """What the machine has: AVX2, and AVX-512 where it is."""
    return ["x86-64-v3", "host"] if not HAS_NONE and llvm.host().vector_bytes >= 32 else ["host"]


@pytest.fixture(scope="module", params=levels())
def compiled(request):
    """(tiles, the product, the dots) of one width, and sums with packed columns, which AVX2 has."""
    target = llvm.target_of(request.param)
    tiles = windows.tiles_of(F32, target)
    functions = {**windows.products_ir(tiles), **windows.dots_ir(tiles), **window_sums.sums_ir(tiles)}
    of_products, of_dots = ([tile for rows in SIZES for tile in made(tiles, rows)] for made in TILES)
    functions |= {tile.name: tile.text() for tile in [*of_products, *of_dots]}
    text = "\n\n".join([*functions.values(), *windows.declarations(tiles), attributes(target)])
    names = *windows.names_of(F32), window_sums.name_of(tiles)
    found = loaded(text, (*names, *(tile.name for tile in [*of_products, *of_dots]))).addresses
    kinds = [ctypes.CFUNCTYPE(ctypes.c_int32, *signature) for signature in (PRODUCT, DOTS, DOTS)]
    product, dots, sums = (kind(found[name]) for kind, name in zip(kinds, names))

    def with_tiles(function, made):
        """The function with a table of those tiles alone that it shall call."""

        def call(rows, *given):
            table = np.zeros(windows.table_size(tiles), np.int64)
            for tile in made(tiles, rows):
                table[tile.place] = found[tile.name]
            return function(rows, *given, table.ctypes.data)

        return call

    return tiles, with_tiles(product, TILES[0]), with_tiles(dots, TILES[1]), sums


@pytest.mark.parametrize("level", llvm.LEVELS)
def test_code_is_made_for_machines_without_these_vectors(level):
    target = llvm.target_of(level)
    tiles = windows.tiles_of(F32, llvm.host())
    functions = windows.products_ir(tiles) | {t.name: t.text() for rows in SIZES for t in TILES[0](tiles, rows)}
    text = "\n\n".join([*functions.values(), *windows.declarations(tiles), attributes(target)])
    machine = target.machine()
    assert machine.emit_object(llvm.optimized(text, machine))


def address(array):
    return None if array is None else array.ctypes.data


def placed(rng, columns, each, lanes, room):
    """Where groups of columns lie in a row of b and of c: anywhere, in order, without overlaps."""
    groups = columns // each
    places = [np.sort(rng.permutation(room // each)[:groups]) * each * 4 for _ in range(2)]
    pieces = pieces_of(places[0], places[1], each, 4, lanes)
    assert pieces[:, 2].sum() == columns and (pieces[:, 2] <= lanes).all()
    return places, np.concatenate([pieces, np.zeros((3, 4), np.int64)]), len(pieces)


def seen(row, places, each):
    """The columns that groups at these places are."""
    return np.concatenate([row[..., p // 4 : p // 4 + each] for p in places], -1) if len(places) else row[..., :0]


@pytest.mark.parametrize("each", [1, 3, 8, 16, 64])
def test_products(compiled, each):
    tiles, product, *_ = compiled
    rng = np.random.default_rng(each)
    for trial in range(25):
        m, k = (int(v) for v in rng.choice(SIZES, 2))
        k += 250 * (trial % 5 == 0)
        groups = int(rng.integers(0, 9))
        room = each * (groups + int(rng.integers(0, 4))) + each
        (b_places, c_places), pieces, count = placed(rng, groups * each, each, tiles.lanes, room)
        (a, kept_a), (b, kept_b), (c, kept_c) = (guarded(n, F32) for n in (m * k, k * room, m * room))
        a[:], b[:], c[:] = rng.standard_normal(a.size), rng.standard_normal(b.size), 7
        order = rng.permutation(k) if trial % 3 else np.arange(k)  # offsets may come in any order
        bias = rng.standard_normal(m).astype(F32) if trial % 2 else None
        ao, bo = order * 4, order * room * 4
        scratch, kept_scratch = guarded(windows.scratch_bytes(m, k, tiles) // 4, F32)
        is_safe = (pieces[:count, 0].max(initial=0) + 4 * tiles.lanes) <= room * 4
        given = address(scratch), trial % 3 == 0, (count + 3) * is_safe * (trial % 2)
        product(m, k, address(a), k * 4, address(ao), address(b), address(bo), address(c), room * 4, address(pieces),
                count, address(bias), *given)  # fmt: skip
        expected = np.full((m, room), 7, F32)
        found = a.reshape(m, k)[:, order] @ seen(b.reshape(k, room)[order], b_places, each)
        found = found if bias is None else found + bias[:, None]
        for i, place in enumerate(c_places // 4):
            expected[:, place : place + each] = found[:, i * each : (i + 1) * each]
        np.testing.assert_allclose(c.reshape(m, room), expected, atol=2e-5 * k**0.5 * 4)
        del kept_a, kept_b, kept_c, kept_scratch


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 1.0])
def test_columns_with_others_between_them(compiled, share):
    """As those of rows of an image with zeros at their ends: lanes of others are neither read nor written."""
    tiles, product, *_ = compiled
    rng = np.random.default_rng(int(share * 10))
    for _ in range(25):
        m, k = (int(v) for v in rng.choice(SIZES, 2))
        room = int(rng.integers(1, 150))
        columns = np.flatnonzero(rng.random(room) < share)
        (a, kept_a), (b, kept_b), (c, kept_c) = (guarded(n, F32) for n in (m * k, k * room, m * len(columns)))
        a[:], b[:] = rng.standard_normal(a.size), rng.standard_normal(b.size)
        found = spread_pieces(columns * 4, np.arange(len(columns)) * 4, 4, tiles.lanes)
        if found is None:
            assert not len(columns)
            continue
        assert found[:, 2].sum() == len(columns)
        pieces = np.concatenate([found, np.zeros((3, 4), np.int64)])
        ao, bo = np.arange(k) * 4, np.arange(k) * room * 4
        scratch, kept_scratch = guarded(windows.scratch_bytes(m, k, tiles) // 4, F32)
        whole = found[:, 0] + 4 * tiles.lanes <= room * 4
        safe = len(found) + 3 if whole.all() else int((~whole).argmax())
        pieces[len(found) :, 0] = found[-1, 0]
        product(m, k, address(a), k * 4, address(ao), address(b), address(bo), address(c), len(columns) * 4,
                address(pieces), len(found), None, address(scratch), 1, safe)  # fmt: skip
        expected = a.reshape(m, k) @ b.reshape(k, room)[:, columns]
        np.testing.assert_allclose(c.reshape(m, -1), expected, atol=2e-5 * k**0.5 * 4)
        del kept_a, kept_b, kept_c, kept_scratch


@pytest.mark.parametrize("each", [1, 5, 8, 64])
@pytest.mark.parametrize("kind", ["dots", "sums"])
def test_dots(compiled, kind, each):
    tiles, _, dots, sums = compiled
    rng = np.random.default_rng([each, 1])
    for trial in range(15):
        m, k = (int(v) for v in rng.choice(SIZES, 2))
        groups = int(rng.integers(1, 9)) if trial % 5 else 2100 // each
        room = each * (groups + int(rng.integers(0, 4)))
        (b_places, a_places), pieces, count = placed(rng, groups * each, each, tiles.lanes, room)
        (a, kept_a), (b, kept_b), (c, kept_c) = (guarded(n, F32) for n in (m * room, k * room, m * k))
        a[:], b[:], c[:] = rng.standard_normal(a.size), rng.standard_normal(b.size), 7
        bo, (scratch, kept_scratch) = np.arange(k) * room * 4, guarded(window_sums.scratch_bytes(tiles) // 4, F32)
        given = (m, k, address(a), room * 4, address(b), address(bo), address(c), k * 4, address(pieces), count)
        _ = dots(*given) if kind == "dots" else sums(*given, address(scratch))
        expected = seen(a.reshape(m, room), a_places, each) @ seen(b.reshape(k, room), b_places, each).T
        np.testing.assert_allclose(c.reshape(m, k), expected, atol=2e-5 * (groups * each) ** 0.5 * 4)
        del kept_a, kept_b, kept_c, kept_scratch


def test_what_lies_side_by_side_is_one_piece():
    places = np.array([0, 32, 64, 256]), np.array([0, 32, 64, 96])
    assert pieces_of(*places, 8, 4, 16).tolist() == [[0, 0, 16, 65535], [64, 64, 8, 255], [256, 96, 8, 255]]
    assert pieces_of(np.array([], int), np.array([], int), 8, 4, 16).shape == (0, 4)


def test_pieces_are_spread_where_they_are_fewer():
    rows = (np.arange(7)[:, None] * 9 + np.arange(7)).reshape(-1) * 4  # an image of 7 x 7 with zeros around it
    there = np.arange(49) * 4
    assert len(pieces_of(rows, there, 1, 4, 16)) == 7
    found = fewest_pieces(rows, there, 1, 4, 16, may_spread=True)
    assert len(found) == 4 and bin(found[0, 3]) == "0b1111111001111111"
    assert len(fewest_pieces(rows, there, 1, 4, 16, may_spread=False)) == 7
    assert spread_pieces(rows[::-1], there, 4, 16) is None and spread_pieces(rows, there[::-1], 4, 16) is None
