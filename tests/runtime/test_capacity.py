"""Programs that no memory could hold end with the planned size before they run."""

import pytest

import vitrify as paddle
from vitrify.core.errors import OutOfMemoryError
from vitrify.device.memory import installed
from vitrify.runtime.capacity import too_large


def core_of(f, *arguments):
    compiled = paddle.jit.to_static(f, full_graph=True)
    compiled(*arguments)
    return compiled.program_cache.last().segment.forward_core


def outer(x):
    return paddle.matmul(x.unsqueeze(1), x.unsqueeze(0)).sum()


def test_the_planned_size_is_told():
    side = 1 << 20  # 4 TiB of products
    compiled = paddle.jit.to_static(outer, full_graph=True)
    with pytest.raises(OutOfMemoryError, match=r"needs 4\.0 TiB at a time, .* from matmul on") as found:
        compiled(paddle.ones([side]))
    assert isinstance(found.value, MemoryError)
    assert "return paddle.matmul(x.unsqueeze(1), x.unsqueeze(0)).sum()" in str(found.value)
    with pytest.raises(OutOfMemoryError):
        compiled(paddle.ones([side]))
    assert compiled(paddle.ones([8])).item() == 64


def test_nothing_runs_before(capsys):
    def f(x):
        print("begun", x.shape[0])
        return outer(x)

    with pytest.raises(OutOfMemoryError):
        paddle.jit.to_static(f, full_graph=True)(paddle.ones([1 << 20]))
    assert capsys.readouterr().out == ""


def test_backward_too():
    def f(x):
        return (x.unsqueeze(1) * paddle.ones([1 << 20])).sum()

    x = paddle.ones([1 << 20])
    x.stop_gradient = False
    with pytest.raises(OutOfMemoryError):
        paddle.jit.to_static(f)(x)


@pytest.mark.parametrize(("side", "is_refused"), [(100, False), (1000, True)])
def test_the_limit_decides(side, is_refused):
    core = core_of(outer, paddle.ones([side]))
    assert (too_large(core, limit=1 << 20) is not None) is is_refused
    assert too_large(core) is None


def test_unknown_sizes_are_not_refused():
    compiled = paddle.jit.to_static(outer, input_spec=[paddle.static.InputSpec([None])], full_graph=True)
    compiled(paddle.ones([4]))
    assert too_large(compiled.program_cache.last().segment.forward_core, limit=16) is None


def test_what_is_freed_in_between_counts_once():
    def f(x):
        for _ in range(8):
            x = paddle.matmul(x, x)
        return x

    core = core_of(f, paddle.ones([64, 64]))
    assert too_large(core, limit=3 * 64 * 64 * 4) is None
    assert too_large(core, limit=64 * 64 * 4) is not None


def test_memory_that_is_installed():
    found = installed()
    assert found is None or found > 1 << 27
