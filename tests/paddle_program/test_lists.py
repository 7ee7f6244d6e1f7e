"""Lists whose length only the run knows, in programs written for PaddlePaddle: tensors of their items."""

import pytest

import vitrify as paddle
from tests.paddle_program.test_writing import FORMATS, SPEC, round_trip
from vitrify.core.errors import UnsupportedError


def collected(x, n):
    """Items appended in a loop, read from either end, changed, and put together in each way."""
    items, numbers = [x[0]], []
    i = paddle.zeros([], "int64")
    while i < n:
        items.append(items[-1] * 2 + i)
        numbers.append(i + 1)
        i = i + 1
    items[1] = items[0] - 1
    return paddle.stack(items, 1), paddle.concat(items), sum(items), items[n - 1] + items[-2], paddle.stack(numbers)


def shortened(x, n):
    """Parts of a list, one taken out, and one list behind another."""
    items = [x[0], x[1]]
    i = paddle.zeros([], "int64")
    while i < n:
        items.append(x[i % 2] + i)
        i = i + 1
    last = items.pop()
    more = items[1:]
    more.extend(items[:2])
    return last, paddle.stack(items), paddle.stack(more), paddle.to_tensor(len(more)), items[::2][1]


@pytest.mark.parametrize("function", [collected, shortened])
@pytest.mark.parametrize("kind", FORMATS)
def test_lists_of_a_length_that_the_run_knows(kind, function, tmp_path):
    x = paddle.arange(6, dtype="float32").reshape([2, 3]) / 7
    for n in (2, 5):
        given = [x, paddle.to_tensor(n, "int64")]
        round_trip(function, [SPEC([2, 3]), SPEC([], "int64")], given, tmp_path, kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_padding_that_the_run_knows(kind, tmp_path):
    def to_four(x):
        x = x[x[:, 0] > 0]
        return paddle.nn.functional.pad(x, [0, 4 - x.shape[0], 1, 0], value=-1.5, pad_from_left_axis=True)

    x = paddle.to_tensor([[1.0, 2.0], [-1.0, 3.0], [2.0, -3.0]])
    round_trip(to_four, [SPEC([None, 2])], [x], tmp_path, kind)


@pytest.mark.parametrize("kind", FORMATS)
def test_padding_that_takes_away(kind, tmp_path):
    """What is brought to the size of another image is cut where it is larger."""

    def brought(x, y):
        rows, columns = y.shape[2] - x.shape[2], y.shape[3] - x.shape[3]
        x = paddle.nn.functional.pad(x, [columns // 2, columns - columns // 2, rows // 2, rows - rows // 2])
        return paddle.concat([x, y], 1)

    specs = [SPEC([None, 2, None, None]), SPEC([None, 2, None, None])]
    for sizes in ((3, 7), (5, 5), (4, 1), (6, 9)):
        given = [paddle.rand([1, 2, 5, 5]), paddle.rand([1, 2, *sizes])]
        round_trip(brought, specs, given, tmp_path, kind)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("corners", [True, False])
def test_grids_of_sizes_that_the_run_knows(kind, corners, tmp_path):
    def turned(x, theta):
        grid = paddle.nn.functional.affine_grid(theta, x.shape, align_corners=corners)
        return grid, paddle.nn.functional.grid_sample(x, grid, align_corners=corners)

    theta = paddle.to_tensor([[[0.6, -0.8, 0.1], [0.8, 0.6, -0.2]]])
    for sizes in ((4, 6), (1, 3)):
        round_trip(
            turned, [SPEC([1, 3, None, None]), SPEC([1, 2, 3])], [paddle.rand([1, 3, *sizes]), theta], tmp_path, kind
        )


@pytest.mark.parametrize("kind", FORMATS)
def test_what_lists_cannot_be(kind, tmp_path):
    def given_back(x, n):
        items = [x]
        while n > 0:
            items.append(x)
            n = n - 1
        return items

    specs = [SPEC([None]), SPEC([], "int64")]
    with pytest.raises(UnsupportedError, match="takes or gives a list"):
        paddle.jit.save(given_back, tmp_path / "f", input_spec=specs, format=kind)
    assert not list(tmp_path.iterdir())
