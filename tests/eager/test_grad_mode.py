"""no_grad, enable_grad and set_grad_enabled: what records, and that every mode ends where it should."""

import asyncio

import pytest

from vitrify.core.errors import DTypeError
from vitrify.eager.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from vitrify.eager.tensor import to_tensor


def test_no_grad_stops_recording():
    x = to_tensor([1.0], stop_gradient=False)
    with no_grad():
        y = x * 2
    z = x * 2
    assert y.stop_gradient and not z.stop_gradient


def test_modes_nest_and_are_restored_after_errors():
    with no_grad():
        with enable_grad():
            assert is_grad_enabled()
        assert not is_grad_enabled()
    with pytest.raises(RuntimeError), no_grad():
        raise RuntimeError
    assert is_grad_enabled()


def test_one_mode_object_may_be_entered_twice():
    mode = no_grad()
    with mode, mode:
        assert not is_grad_enabled()
    assert is_grad_enabled()


@pytest.mark.parametrize("decorator", [lambda: no_grad, no_grad, lambda: set_grad_enabled(False)])
def test_decorators_with_and_without_parentheses(decorator):
    @decorator()
    def recording():
        """Documented."""
        return is_grad_enabled()

    assert is_grad_enabled() and not recording() and is_grad_enabled()
    assert recording.__doc__ == "Documented."


def test_only_functions_can_be_decorated():
    with pytest.raises(DTypeError, match="no_grad: decorates a function, got int"):
        no_grad(3)


def test_set_grad_enabled_acts_at_once_and_until_the_end_of_its_block():
    try:
        set_grad_enabled(False)
        assert not is_grad_enabled()
    finally:
        set_grad_enabled(True)
    with set_grad_enabled(False):
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_a_generator_body_keeps_its_mode_and_its_caller_keeps_his():
    @no_grad
    def numbers():
        got = []
        got.append((is_grad_enabled(), (yield 1)))
        try:
            got.append((is_grad_enabled(), (yield 2)))
        except KeyError:
            got.append(("thrown", is_grad_enabled()))
        return got

    running = numbers()
    assert next(running) == 1 and is_grad_enabled()
    with enable_grad():
        assert running.send("a") == 2
    with pytest.raises(StopIteration) as stopped:
        running.throw(KeyError())
    assert stopped.value.value == [(False, "a"), ("thrown", False)]
    assert is_grad_enabled()


def test_a_closed_generator_cleans_up_in_its_mode():
    seen = []

    @no_grad
    def numbers():
        try:
            yield 1
        finally:
            seen.append(is_grad_enabled())

    running = numbers()
    next(running)
    running.close()
    assert seen == [False]


def test_coroutines_keep_their_mode_while_others_run():
    @no_grad
    async def quiet():
        before = is_grad_enabled()
        await asyncio.sleep(0)
        return before, is_grad_enabled()

    async def loud():
        await asyncio.sleep(0)
        return is_grad_enabled()

    async def both():
        return await asyncio.gather(quiet(), loud())

    assert asyncio.run(both()) == [(False, False), True]
