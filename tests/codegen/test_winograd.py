"""Convolutions by Winograd's tiles against those computed in float64, and nothing outside of the arrays."""

import ctypes
import itertools

import numpy as np
import pytest

import vitrify as paddle
from tests.codegen.test_pointwise import guarded
from tests.codegen.test_whole import program_of
from vitrify.codegen import llvm, winograd, winograd_steps
from vitrify.codegen.tiles import shape_of
from vitrify.codegen.winograd_steps import Grid, heights, pays, tables
from vitrify.core.config import flags_guard
from vitrify.ops.conv import conv_arguments, conv_input_grad_op, conv_op

F32 = np.dtype(np.float32)
WORD, POINTER = ctypes.c_int64, ctypes.c_void_p
SIGNATURES = {
    "lay": (ctypes.c_int32, POINTER, POINTER, *[WORD] * 10),
    "range": (ctypes.c_int32, POINTER, WORD),
    "filters": (None, POINTER, POINTER, *[WORD] * 5, POINTER),
    "products": (ctypes.c_int32, POINTER, POINTER, WORD, POINTER, *[WORD] * 4, POINTER, POINTER, WORD, POINTER, WORD,
                 POINTER, POINTER),
}  # fmt: skip
has_tiles = not llvm.why_not_here() and llvm.host().is_x86 and llvm.host().vector_bytes >= 32
needs_tiles = pytest.mark.skipif(not has_tiles, reason="tiles are measured with AVX2 and AVX-512 alone")


def numbers(rng, *shape):
    return rng.standard_normal(shape).astype(F32)


def address(array):
    return None if array is None else array.ctypes.data


def convolved(x, weight, pad):
    """The convolution of x [channels, height, width, images] in float64."""
    x, weight = (np.pad(x, ((0, 0), pad[0], pad[1], (0, 0))).astype(np.float64), weight.astype(np.float64))
    height, width = x.shape[1] - 2, x.shape[2] - 2
    parts = [
        np.einsum("kc,chwn->khwn", weight[:, :, r, c], x[:, r : r + height, c : c + width])
        for r in range(3)
        for c in range(3)
    ]
    return sum(parts)


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lanes", [8, 16])
@pytest.mark.parametrize("images", [1, 2, 3, 8, 16, 17, 40])
def test_each_place_of_the_result_is_written_once(images, lanes):
    rng = np.random.default_rng(images)
    for height, width in [(1, 1), (2, 2), (7, 7), (14, 14), *rng.integers(1, 40, (12, 2)).tolist()]:
        grid = Grid(height, width, images)
        vectors, entries = tables(grid, lanes)
        assert len(vectors) % 2 == 0
        written = np.full(height * width * images, -1)
        seen = np.arange(grid.rows * grid.line)
        for start, first, count, *_, order in zip(*vectors[:, :3].T, vectors[:, winograd.ORDERS :].view(np.int32)):
            for at, bits, to in entries[first : first + count]:
                row, half = divmod(at // (4 * lanes), 2)
                for lane in (i for i in range(lanes) if bits >> i & 1):
                    column, source = divmod(int(order[lanes * half + lane]), lanes)
                    i, left = divmod(int(seen[start // 4 + source]), grid.line)
                    j, image = divmod(left, images)
                    place = ((2 * i + row) * width + 2 * j + column) * images + image
                    assert place == to // 4 + lane and written[place] == -1
                    written[place] = start
        assert (written >= 0).all()


def test_vectors_go_through_rows_where_that_takes_fewer():
    assert len(Grid(14, 14, 1).starts(16)) == 4  # seven tiles in a row, and a place between rows
    assert len(Grid(4, 4, 8).starts(16)) == 2  # two tiles of eight images in a row


@pytest.mark.parametrize("highest", [(12, 8, 4), (6, 4)])
@pytest.mark.parametrize("rows", range(4, 100, 4))
def test_heights_of_tiles(rows, highest):
    found = heights(rows, highest)
    assert sum(found) == rows and set(found) <= set(highest) and len(found) == -(-rows // highest[0])
    assert 4 not in found or rows == 4 or highest == (6, 4)


# -- functions ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["x86-64-v3", "host"])
def compiled(request):
    """The tiles of one width of vectors, AVX2's or what the machine has, and the functions."""
    target = llvm.target_of(request.param)
    found = winograd_steps.functions_for(target)
    return shape_of(F32, target), {
        name: ctypes.CFUNCTYPE(*signature)(found[getattr(winograd.NAMES, name)])
        for name, signature in SIGNATURES.items()
    }


@needs_tiles
@pytest.mark.parametrize("images", [1, 2, 8, 16, 19])
@pytest.mark.parametrize("is_reversed", [False, True])
def test_nothing_beside_the_arrays_is_touched(compiled, images, is_reversed):
    tiles_shape, functions = compiled
    known = winograd.heights_of(tiles_shape)
    rng = np.random.default_rng([images, is_reversed])
    for channels in (1, 2, 7, 16):
        rows, (height, width) = int(rng.choice([4, 8, 12, 16, 28])), (int(v) for v in rng.integers(1, 24, 2))
        top, left = (int(v) for v in rng.integers(0, 4, 2))
        grid = Grid(height + top - 1 + 2, width + left - 1 + 2, images)  # two places more below and on the right
        own, shape = heights(rows, known), (channels, rows) if is_reversed else (rows, channels)
        plane = grid.rows * grid.line
        sizes = {
            "x": channels * height * width * images, "weight": rows * channels * 9, "bias": rows,
            "filters": sum(winograd.filters_of(h, channels) for h in own),
            "planes": winograd.planes_of(channels, plane), "out": rows * grid.height * grid.width * images,
            "packed": winograd.filter_scratch(channels, tiles_shape),
            "scratch": winograd.product_scratch(channels, tiles_shape),
        }  # fmt: skip
        kept = {name: guarded(size, F32) for name, size in sizes.items()}
        a = {name: array for name, (array, _) in kept.items()}
        for array in a.values():
            array[:] = np.nan
        for name in ("x", "weight", "bias"):
            a[name][:] = rng.standard_normal(sizes[name])
        at = before = 0
        for h in own:
            first, row, channel = (
                (9 * before, 36, rows * 36) if is_reversed else (9 * channels * before, 36 * channels, 36)
            )
            functions["filters"](address(a["filters"][at:]), address(a["weight"][first:]), h, channels, row, channel,
                                 is_reversed, address(a["packed"]))  # fmt: skip
            at, before = at + winograd.filters_of(h, channels), before + h
        line = width * images * 4
        bits = functions["lay"](address(a["planes"]), address(a["x"]), channels, height * line, line, height, width,
                                images, top, left, grid.rows, grid.pitch)  # fmt: skip
        assert np.int32(bits).view(F32) == np.abs(a["x"]).max()
        assert functions["range"](address(a["x"]), a["x"].size) == bits
        vectors, entries = tables(grid, tiles_shape.lanes)
        words = [(known.index(h), h, (channels * h + 16) * 4) for h in own]
        tiles = np.array(words, np.int64)
        functions["products"](
            address(a["filters"]), address(tiles), len(own), address(a["planes"]), plane * 4, grid.line * 4, images * 4,
            channels, address(vectors), address(entries), len(vectors) // 2, address(a["out"]),
            grid.height * grid.width * images * 4, address(a["bias"]), address(a["scratch"]),
        )  # fmt: skip
        weight = a["weight"].reshape(*shape, 3, 3)
        if is_reversed:
            weight = weight.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
        ends = [(top, grid.height + 2 - top - height), (left, grid.width + 2 - left - width)]
        expected = convolved(a["x"].reshape(channels, height, width, images), weight, ends)
        out = a["out"].reshape(expected.shape) - a["bias"].reshape(-1, 1, 1, 1)
        np.testing.assert_allclose(out, expected, atol=4e-6 * (9 * channels) ** 0.5)


# -- plans -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def used(monkeypatch):
    """Have tiles taken for channels of any number; the filters of those that were, as rows and channels."""
    found = []

    def pays(rows, channels, *others):
        found.append((rows, channels))
        return rows % winograd.GRAIN == 0

    monkeypatch.setattr(winograd_steps, "pays", pays)
    return found


def found_by_program(op, arrays, attrs):
    made = program_of(lambda *xs: op(*xs, **attrs), *[(a.shape, a.dtype.name) for a in arrays])(arrays)
    return None if made is None else made[0]


@needs_tiles
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_convolutions_and_the_cotangents_of_inputs(used, layout, threads):
    rng = np.random.default_rng([layout == "NCHW", threads])
    with flags_guard({"num_threads": threads}):
        for trial in range(24):
            images, channels, outputs = (int(rng.choice(s)) for s in ((1, 2, 5, 16), (1, 4, 13, 16), (4, 12, 17, 20)))
            pads = [int(p) for p in rng.integers(0, 4, 4)]
            sizes = [int(max(3 - sum(pads[2 * i : 2 * i + 2]), 1) + rng.integers(0, 24)) for i in range(2)]
            attrs = conv_arguments("conv2d", 2, 1, pads, 1, 1, layout)
            shape = (images, channels, *sizes) if layout == "NCHW" else (images, *sizes, channels)
            x, weight, bias = numbers(rng, *shape), numbers(rng, outputs, channels, 3, 3), numbers(rng, outputs)
            given = (x, weight, bias if trial % 2 else None)
            expected = conv_op.on_numpy(*(None if v is None else v.astype(np.float64) for v in given), **attrs)
            out = program_of(
                lambda x, w, b, attrs=attrs, has=trial % 2: conv_op(x, w, b if has else None, **attrs),
                *[(a.shape, "float32") for a in (x, weight, bias)],
            )((x, weight, bias))[0]
            np.testing.assert_allclose(out, expected, atol=4e-6 * (9 * channels) ** 0.5)
            ct = numbers(rng, *expected.shape)
            back = found_by_program(conv_input_grad_op, (ct, weight, x), attrs)
            expected = conv_input_grad_op.on_numpy(*(v.astype(np.float64) for v in (ct, weight, x)), **attrs)
            if back is not None:
                np.testing.assert_allclose(back, expected, atol=4e-6 * (9 * outputs) ** 0.5)
    assert len(used) >= 30


@needs_tiles
def test_no_images_and_sizes_that_are_open(used):
    weight = paddle.to_tensor(numbers(np.random.default_rng(0), 16, 16, 3, 3))

    @paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None, 16, None, None])])
    def convolution(x):
        return paddle.nn.functional.conv2d(x, weight, padding=1)

    with flags_guard({"native_after_ms": 0}):
        for images, height, width in [(1, 16, 16), (0, 16, 16), (3, 5, 17), (8, 8, 8), (1, 1, 1), (2, 31, 7)] * 4:
            x = paddle.to_tensor(numbers(np.random.default_rng(height), images, 16, height, width))
            eager = paddle.nn.functional.conv2d(x, weight, padding=1)
            np.testing.assert_allclose(convolution(x).numpy(), eager.numpy(), rtol=1e-4, atol=1e-4)
    assert used


@needs_tiles
@pytest.mark.parametrize(
    ("where", "value"),
    [*itertools.product(("x", "weight"), (np.inf, -np.inf, np.nan, 3e38, -1e25)), ("x", -1e9), ("x", 1e4)],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_what_would_spread_to_neighbours_does_not(used, value, where, threads):
    """Only places whose window has the value are other than without it."""
    rng = np.random.default_rng(5)
    attrs = conv_arguments("conv2d", 2, 1, 1, 1, 1, "NCHW")
    x, weight = numbers(rng, 1, 16, 16, 16), numbers(rng, 16, 16, 3, 3)
    with flags_guard({"num_threads": threads}):
        program = program_of(lambda x, w: conv_op(x, w, None, **attrs), (x.shape, "float32"), (weight.shape, "float32"))
        usual = program((x, weight))[0]
        changed = {"x": x.copy(), "weight": weight.copy()}
        changed[where][(0, 3, 7, 9) if where == "x" else (5, 3, 0, 2)] = value
        found = program((changed["x"], changed["weight"]))[0]
        expected = conv_op.on_numpy(changed["x"], changed["weight"], None, **attrs)
        again = program((x, weight))[0]
    assert len(used) == 1 and np.array_equal(usual, again)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=5e-4)
    same = np.ones_like(found, bool)
    same[(0, slice(None), slice(6, 9), slice(8, 11)) if where == "x" else (0, 5)] = False
    np.testing.assert_allclose(found[same], usual[same], rtol=1e-4, atol=5e-4)


@needs_tiles
def test_windows_take_the_memory_of_tiles(used, monkeypatch):
    """One of the two ways runs, so both together need little more memory than the larger one."""
    rng = np.random.default_rng(6)
    attrs = conv_arguments("conv2d", 2, 1, 1, 1, 1, "NCHW")
    arrays = numbers(rng, 1, 64, 56, 56), numbers(rng, 64, 64, 3, 3)

    def arena():
        metas = [(a.shape, "float32") for a in arrays]
        return program_of(lambda x, w: conv_op(x, w, None, **attrs), *metas).plan(arrays).arena

    filters, planes, work = 16 * 64 * 64 * 4, 64 * 58 * 58 * 4, 16 * (64 * 32 + 12 * 32) * 4
    with flags_guard({"num_threads": 1}):
        both = arena()
        monkeypatch.setattr(winograd_steps, "pays", lambda *given: False)
        windows = arena()
        monkeypatch.setattr(winograd_steps, "pays", lambda *given: True)
        monkeypatch.setattr(winograd_steps, "_MOST_BYTES", filters + planes)
        assert arena() == windows  # as there is no more memory than that
    assert windows < both < filters + planes + work + (1 << 18)


@needs_tiles
def test_gradients_by_finite_differences(used):
    """Along a random direction, for the input and the weight, of a step that computes both ways by tiles."""
    rng = np.random.default_rng(7)
    x, weight = (paddle.to_tensor(numbers(rng, *s), stop_gradient=False) for s in ((4, 16, 9, 11), (16, 16, 3, 3)))
    ct = numbers(rng, 4, 16, 9, 11)

    @paddle.jit.to_static
    def loss(x, weight):
        return (paddle.nn.functional.conv2d(x, weight, padding=1) * paddle.to_tensor(ct)).sum()

    with flags_guard({"native_after_ms": 0}):
        for _ in range(8):
            grads = paddle.grad(loss(x, weight), [x, weight])
    assert len(used) >= 2
    given = [v.numpy().astype(np.float64) for v in (x, weight)]
    attrs = conv_arguments("conv2d", 2, 1, 1, 1, 1, "NCHW")
    for i, grad in enumerate(grads):
        along, step = rng.standard_normal(given[i].shape), 1e-3
        ends = []
        for sign in (1, -1):
            moved = [*given]
            moved[i] = given[i] + sign * step * along
            ends.append((conv_op.on_numpy(*moved, None, **attrs) * ct).sum())
        expected = (ends[0] - ends[1]) / (2 * step)
        assert abs((grad.numpy() * along).sum() - expected) < 1e-4 * np.abs(grad.numpy() * along).sum()


@needs_tiles
@pytest.mark.parametrize("level", ["x86-64-v3", "host"])
def test_when_they_pay(level):
    """Small channels, large weights and what is no multiple of four rows stay with windows."""
    shape = shape_of(F32, llvm.target_of(level))
    wide = 16 // shape.lanes
    assert pays(64, 64, Grid(56, 56, 1), 224 * wide, shape)
    assert pays(256, 256, Grid(14, 14, 1), 14 * wide, shape)
    assert not pays(512, 512, Grid(7, 7, 1), 4 * wide, shape)
    assert not pays(64, 8, Grid(56, 56, 1), 224 * wide, shape)
    assert not pays(62, 64, Grid(56, 56, 1), 224 * wide, shape)
