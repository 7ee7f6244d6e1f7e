"""Unique names and their namespaces."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import vitrify as paddle
from vitrify.core import names


@pytest.fixture(autouse=True)
def fresh():
    with names.guard():
        yield


def test_names_are_numbered_by_key():
    assert [names.generate(key) for key in ("fc", "fc", "x", "fc")] == ["fc_0", "fc_1", "x_0", "fc_2"]


def test_a_guard_numbers_from_zero_and_continues_after():
    names.generate("fc")
    with names.guard("A_"):
        assert (names.generate("fc"), names.generate("fc")) == ("A_fc_0", "A_fc_1")
    with names.guard(b"B_"):
        assert names.generate("fc") == "B_fc_0"
    assert names.generate("fc") == "fc_1"


def test_a_prefix_stands_once_in_names_of_parts():
    with names.guard("A_"):
        assert paddle.nn.Linear(2, 2).weight.name == "A_linear_0.w_0"
        main = paddle.static.Program()
        with paddle.static.program_guard(main, paddle.static.Program()):
            paddle.static.nn.fc(paddle.static.data("x", [None, 2]), 2)
        assert [p.name for p in main.all_parameters()] == ["A_fc_0.w_0", "A_fc_0.b_0"]


def test_a_guard_can_continue_a_generator():
    generator = names.UniqueNameGenerator("net_")
    for expected in ("net_w_0", "net_w_1"):
        with names.guard(generator):
            assert names.generate("w") == expected


def test_a_guard_ends_when_its_block_raises():
    with pytest.raises(ZeroDivisionError), names.guard("A_"):
        raise ZeroDivisionError
    assert names.generate("fc") == "fc_0"


def test_switch_returns_what_to_switch_back_to():
    names.generate("fc")
    assert not names.is_parameter_name_taken("w")
    old = names.switch()
    assert names.generate("fc") == "fc_0" and not names.is_parameter_name_taken("w")
    names.switch(*old)
    assert names.generate("fc") == "fc_1" and names.is_parameter_name_taken("w")


def test_no_name_is_given_twice_to_any_thread():
    generator = names.UniqueNameGenerator()
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(generator, ["t"] * 2000))
    assert sorted(given) == sorted(f"t_{i}" for i in range(2000))
