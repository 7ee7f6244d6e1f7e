"""Native programs with sizes that only the run knows: masks, lists, branches and loops whose variables grow."""

import ctypes

import numpy as np
import pytest

import vitrify as paddle
from tests.models.checks import built, outputs_of
from tests.models.zoo import all_cases
from vitrify.aot import load
from vitrify.aot.loading import CArray
from vitrify.core.errors import ShapeError, UnsupportedError
from vitrify.static import InputSpec


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def saved(function, specs, folder):
    paddle.jit.save(function, str(folder / "net"), input_spec=specs, format="native")
    return load(folder / "net")


def check(function, specs, folder, *cases):
    """The native program gives what the function does, for each of the inputs."""
    program = saved(function, specs, folder)
    for given in cases:
        wanted = outputs_of(function, tuple(given))
        found = program(*given)
        assert [(a.shape, a.dtype) for a in found] == [(a.shape, a.dtype) for a in wanted]
        for a, b in zip(found, wanted):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


FIT, FOLLOW = paddle.to_tensor(random(3)), paddle.to_tensor(random(3, 3))
NONE, SOME, ALL = -np.ones((3, 4), "float32"), random(3, 4), np.ones((3, 4), "float32")
FIXED, OPEN = [InputSpec([3, 4], "float32")], [InputSpec([None, 4], "float32")]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: paddle.nonzero(x > 0),
        lambda x: paddle.nonzero(x.clip(0)),
        lambda x: x[x > 0] * 2,
        lambda x: paddle.masked_select(x, x > 0).sum(),
        lambda x: x[x[:, 0] > 0],
        lambda x: paddle.bincount((x > 0).astype("int64").sum(1)),
        lambda x: paddle.concat([x[x[:, 1] > 0], x], 0) * 2,
        lambda x: paddle.sort(x[x > 0]),
        lambda x: paddle.text.viterbi_decode(x.unsqueeze(2) * FIT, FOLLOW, (x > 0).astype("int64").sum(1), True),
    ],
    ids=["nonzero", "nonzero of floats", "mask", "sum", "mask of rows", "bincount", "concat", "sort", "viterbi"],
)
def test_results_whose_size_depends_on_values(function, tmp_path):
    check(function, FIXED, tmp_path, [NONE], [SOME], [ALL])
    check(function, OPEN, tmp_path, [SOME], [ALL], [random(50, 4)], [random(9, 4, seed=2)])


@pytest.mark.parametrize("groups", [False, True])
def test_boxes_that_remain(groups, tmp_path):
    corners = np.random.default_rng(3).uniform(0, 10, (40, 2)).astype("float32")
    boxes = np.concatenate([corners, corners + 4], 1)
    scores, kinds = random(40, seed=4), np.random.default_rng(5).integers(0, 3, 40)

    def function(boxes, scores, kinds):
        more = (kinds, [0, 2], 7) if groups else ()
        kept = paddle.vision.ops.nms(boxes, 0.3, scores, *more)
        return kept, boxes[kept]

    specs = [InputSpec([40, 4], "float32"), InputSpec([40], "float32"), InputSpec([40], "int64")]
    check(function, specs, tmp_path, [boxes, scores, kinds], [boxes * 100, scores, kinds], [boxes * 0, scores, kinds])


def grown(x):
    y = x
    while paddle.sum(y) < 10:
        y = paddle.concat([y, x.abs()], 0)
    return y, y.sum()


def test_a_loop_whose_variable_grows(tmp_path):
    check(grown, FIXED, tmp_path, [SOME], [ALL], [10 * ALL])


def decoded(x):
    """Some rounds of a decoder that keeps what it saw, and a mask that grows unless it ends."""
    rows, past, mask = x, None, paddle.ones_like(x)
    turn = 0
    while turn < 4:
        new = rows if past is None else rows[:, -1:]
        seen = new * 2 if past is None else paddle.concat([past, new * 2], 1)
        last = (seen * mask).sum(1, keepdim=True)
        rows = paddle.concat([rows, last], 1)
        turn += 1
        if last.sum() > 40:
            break
        past = seen
        mask = paddle.concat([mask, paddle.ones([3, 1])], 1)
    return rows[:, 4:]


def test_two_that_grow_alike_in_a_loop_that_breaks(tmp_path):
    check(decoded, FIXED, tmp_path, [ALL / 100], [ALL], [10 * ALL], [-ALL])


def test_branches_of_different_sizes(tmp_path):
    def function(x):
        if x.sum() > 0:
            y = x[:2]
        else:
            y = paddle.concat([x, x], 0)
        return y * 2, y.sum(0)

    check(function, FIXED, tmp_path, [NONE], [ALL])


def listed(x):
    rows = []
    i = paddle.zeros([], "int64")
    while i < (x.sum() > 0).astype("int64") * 3 + 2:
        rows.append(x[0] * i.astype("float32"))
        i += 1
    return paddle.stack(rows), paddle.concat(rows), rows[-1], paddle.stack(rows[::-1])


def test_lists(tmp_path):
    check(listed, FIXED, tmp_path, [NONE], [ALL], [SOME])


def test_what_is_wrong_is_said(tmp_path):
    program = saved(lambda x: paddle.bincount(x), [InputSpec([3], "int64")], tmp_path)
    np.testing.assert_array_equal(program(np.array([0, 2, 2]))[0], [1, 0, 2])
    with pytest.raises(paddle.core.errors.ArgumentError, match="must not hold negative numbers, got -5"):
        program(np.array([0, -5, 2]))
    with pytest.raises(paddle.core.errors.ShapeError, match="dimension 0 must be 3, got 4"):
        program(np.array([0, 1, 2, 3]))


def test_memory_of_the_caller(tmp_path):
    """Results go where the caller has room for them; where that is too little, the error says how much they take."""
    program = saved(lambda x: x[x > 0], FIXED, tmp_path).functions["forward"]
    room, given = np.full(12, 7, "float32"), np.ascontiguousarray(SOME)
    wanted = SOME[SOME > 0]
    source = CArray(given.ctypes.data, given.nbytes, 11, 2, (ctypes.c_int64 * 8)(3, 4))
    output = CArray(room.ctypes.data, room.nbytes)
    run = program._function("run", ctypes.c_int32)
    assert run(ctypes.byref(source), ctypes.c_int64(1), ctypes.byref(output), ctypes.c_int64(1)) == 0
    assert output.shape[0] == wanted.size
    np.testing.assert_array_equal(room[: wanted.size], wanted)
    assert (room[wanted.size :] == 7).all()
    output.bytes = 4
    assert run(ctypes.byref(source), ctypes.c_int64(1), ctypes.byref(output), ctypes.c_int64(1)) == 4
    text = program._function("last_error", ctypes.c_char_p)().decode()
    assert text == f"output 0: takes {wanted.nbytes} bytes, has room for 4"


CALLS = [
    (case, call) for case in all_cases() for call in case.calls if not call.random
    and call.method in ("predict", "generate", "greedy", "greedy_search", "episode", "beam_search", "decode")
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:jit.save leaves out what the function does")
@pytest.mark.parametrize(("case", "call"), CALLS, ids=[f"{case.name}: {call.method}" for case, call in CALLS])
def test_models(case, call, tmp_path):
    """Each of several inputs gives what eager gives: other boxes, other ends of sequences."""
    model = built(case)
    model.eval()

    def function(*args):
        return getattr(model, call.method)(*args, **dict(call.options))

    cases = [call.inputs(np.random.default_rng(seed), case.sizes[0]) for seed in range(1, 6)]
    specs = [InputSpec(list(a.shape), str(a.dtype)) for a in cases[0]]
    program = saved(function, specs, tmp_path)
    for given in cases:
        with paddle.no_grad():
            wanted = outputs_of(function, tuple(given))
        found = program(*given)
        assert [a.shape for a in found] == [a.shape for a in wanted]
        for a, b in zip(found, wanted):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def of_three_beams(x):
    """Beams are rows of one batch, three times as many."""
    n = x.shape[0]
    beams = x.unsqueeze(1).tile([1, 3, 1]).flatten(stop_axis=1)
    while beams.shape[1] < 9 and beams.sum() < 50:
        scores, picked = paddle.topk(beams[:, -1].reshape([n, 3]), 3, axis=1)
        rows = (picked + paddle.arange(n).unsqueeze(-1) * 3).flatten()
        beams = paddle.concat([beams.index_select(rows), scores.reshape([-1, 1]) + 1], axis=1)
    return beams, beams.reshape([n, 3, -1]).mean(1)


def with_a_cache_behind_the_first_round(x):
    cache, n = None, 0
    while n < 6:
        y = x if cache is None else paddle.concat([cache, x[:, -1:]], axis=1)
        x = paddle.concat([x, y.mean(1, keepdim=True)], axis=1)
        n += 1
        if y.sum() > 20:
            break
        cache = y
    return x


@pytest.mark.parametrize("function", [of_three_beams, with_a_cache_behind_the_first_round])
def test_a_loop_over_rows_of_an_open_batch(function, tmp_path):
    check(function, OPEN, tmp_path, *[[random(n, 4, seed=n)] for n in (1, 2, 3, 5, 8)])


def by_size(x):
    return x * 2 if x.shape[0] < 9 else x * 3


def by_what_remains(x):
    kept = x[x[:, 0] > 0]
    return kept * 2 if kept.shape[0] < 3 else kept * 3


def until_long(x):
    while x.shape[0] < 9:
        x = paddle.concat([x, x[-1:] * 0.5])
    return x, paddle.sort(x[:, 0])


def cut_at_five(x):
    return paddle.arange(paddle.minimum(paddle.shape(x)[0], paddle.to_tensor(5, "int32")).astype("int64")) * 2


def compared(x):
    return x * (paddle.shape(x)[0] < 9).astype("float32")


@pytest.mark.parametrize("function", [by_size, by_what_remains, until_long, compared])
def test_what_sizes_decide_is_decided_while_it_runs(function, tmp_path):
    check(function, OPEN, tmp_path, *[[random(n, 4, seed=n)] for n in (1, 2, 3, 5, 8, 9, 10, 40, 200)])


def test_a_size_cut_at_a_number_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="known only when the program runs"):
        saved(cut_at_five, OPEN, tmp_path)


def test_a_table_that_is_cut_at_a_size_and_a_mask_for_more_than_one_place(tmp_path):
    table, words = paddle.to_tensor(random(24, 4)), paddle.to_tensor(random(32, 4))

    def attend(ids):
        steps, x = ids.shape[1], paddle.nn.functional.embedding(ids, words)
        mask = paddle.triu(paddle.full([steps, steps], -1e9), 1) if steps > 1 else None
        scores = paddle.matmul(x * table[:steps], x, transpose_y=True)
        return scores if mask is None else scores + mask

    sizes = (2, 6), (2, 2), (3, 1), (1, 24)
    given = [[np.random.default_rng(0).integers(0, 32, size)] for size in sizes]
    check(attend, [InputSpec([None, None], "int64")], tmp_path, *given)


def test_a_triangle_from_a_diagonal_and_a_number_of_the_run(tmp_path):
    def mask(x, k):
        rows, columns = x.shape
        seen = paddle.triu(paddle.full([rows, columns], float("-inf")), 1 + columns - rows)
        return x + seen, paddle.tril(x > 0, columns - rows), paddle.full([2, 3], columns + 1), paddle.full([2], k.sum())

    specs = [InputSpec([None, None], "float32"), InputSpec([2], "float32")]
    check(mask, specs, tmp_path, *([random(*sizes), random(2)] for sizes in ((3, 5), (5, 3), (4, 4))))


def test_windows_of_a_row_and_a_norm_of_what_a_reshape_leaves_open(tmp_path):
    weight = paddle.to_tensor(random(8))

    def patches(x):
        normal = paddle.nn.functional.layer_norm(x.reshape([x.shape[0], x.shape[1] // 8, -1]), [8], weight)
        return x.unfold(-1, 4, 2) * 2, x.unfold(0, 3, 1), paddle.signal.frame(x, 8, 4), normal

    specs = [InputSpec([None, 24], "float32")]
    check(patches, specs, tmp_path, *([random(rows, 24)] for rows in (3, 4, 7)))
    with pytest.raises(ShapeError, match="at least 3"):
        saved(patches, specs, tmp_path)(random(2, 24))


def test_a_row_of_a_norm_that_is_left_open_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="a size is left open that is to be a known one"):
        saved(paddle.nn.LayerNorm(8), [InputSpec([None, None], "float32")], tmp_path)


def test_a_filled_tensor_of_no_known_size_is_refused(tmp_path):
    with pytest.raises(UnsupportedError, match="known only when the program runs"):
        saved(lambda x: paddle.full([(x > 0).sum(), 2], x.sum()), OPEN, tmp_path)


def halved_while_large(x):
    y = paddle.tril(paddle.nn.functional.normalize(x, axis=-1))
    if y.mean() > 0.3:
        y = paddle.tanh(y)
    else:
        y = y - 1
    y = paddle.nn.functional.adaptive_max_pool2d(y, 3)
    while y.sum() > 1:
        y = y * 0.5
    return y


def test_what_has_no_form_is_not_made_up_for_by_batches_of_nothing(tmp_path):
    with pytest.raises(UnsupportedError, match="adaptive_max_pool cannot be compiled ahead of time"):
        saved(halved_while_large, [InputSpec([None, 4, 6, 8], "float32")], tmp_path)
