"""Flags: types, guards and the environment."""

from pathlib import Path

import pytest

from vitrify.core import config
from vitrify.core.dump import is_dumped
from vitrify.core.errors import ArgumentError


def test_a_flag_is_read_and_set_by_name():
    with config.flags_guard({"FLAGS_check_nan_inf": True, "num_threads": 3}):
        values = config.get_flags(["check_nan_inf", "FLAGS_num_threads"])
        assert values == {"check_nan_inf": True, "FLAGS_num_threads": 3}
        config.set_flags({"num_threads": 5})
        assert config.NUM_THREADS.value == 5
    assert config.get_flags("check_nan_inf") == {"check_nan_inf": False}


def test_set_flags_outside_a_guard_lasts():
    config.set_flags({"code_level": 100})
    try:
        assert config.CODE_LEVEL.value == 100
    finally:
        config.set_flags({"code_level": 0})


def test_flags_of_paddle_without_a_meaning_here_are_kept():
    name = "FLAGS_cudnn_exhaustive_search"
    before = config.get_flags(["FLAGS_allocator_strategy", name])
    assert before == {"FLAGS_allocator_strategy": "auto_growth", name: False}
    with config.flags_guard({name: 1}):
        assert config.get_flags(name) == {name: True}
    assert config.get_flags(name) == {name: False}
    with pytest.raises(ArgumentError, match="takes bool"):
        config.set_flags({name: "often"})
    with pytest.raises(ArgumentError, match="there is no flag 'FLAGS_nonsense'"):
        config.set_flags({"FLAGS_nonsense": True})


def test_no_flag_has_two_meanings():
    assert not set(config.FLAGS) & set(config.DEFAULTS)


def test_a_guard_restores_every_flag_when_its_block_raises():
    with pytest.raises(ZeroDivisionError), config.flags_guard({"debug": True, "dump": "ssa"}):
        assert config.DEBUG.value and config.DUMP.value == "ssa"
        raise ZeroDivisionError
    assert not config.DEBUG.value and config.DUMP.value == ""


def test_a_guard_with_one_bad_value_changes_nothing():
    with pytest.raises(ArgumentError), config.flags_guard({"debug": True, "num_threads": "many"}):
        pass
    assert not config.DEBUG.value


def test_an_unknown_flag_is_refused_with_the_list():
    with pytest.raises(ValueError, match="no flag 'FLAGS_foo'; the flags are debug, dump"):
        config.get_flags("FLAGS_foo")


@pytest.mark.parametrize(
    ("name", "value"), [("num_threads", "2"), ("num_threads", True), ("dump", 1), ("debug", "yes")]
)
def test_a_value_of_another_type_is_refused(name, value):
    with pytest.raises(ArgumentError, match=f"flag '{name}' .* takes"):
        config.set_flags({name: value})


def test_zero_and_one_are_truth_values():
    with config.flags_guard({"debug": 1}):
        assert config.DEBUG.value is True


@pytest.mark.parametrize(
    ("default", "text", "value"),
    [
        (False, "1", True),
        (True, "off", False),
        (True, "", False),
        (0, "12", 12),
        (0, "-1", -1),
        (1.0, "0.5", 0.5),
        (1.0, "1e-3", 1e-3),
        (1.0, "-2", -2.0),
        ("", "a,b", "a,b"),
    ],
)
def test_the_environment_sets_a_flags_value(monkeypatch, default, text, value):
    monkeypatch.setenv("VITRIFY_TRIAL", text)
    assert config.Flag("trial", default, "VITRIFY_TRIAL", "a trial").value == value


@pytest.mark.parametrize(("default", "text"), [(False, "maybe"), (0, "two"), (0, "")])
def test_a_bad_environment_variable_is_named(monkeypatch, default, text):
    monkeypatch.setenv("VITRIFY_TRIAL", text)
    with pytest.raises(ArgumentError, match=r"flag 'trial' \(VITRIFY_TRIAL\) takes"):
        config.Flag("trial", default, "VITRIFY_TRIAL", "a trial")


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("num_threads", -1, "a number of 0 or more"),
        ("cache_mb", -5, "a number of 0 or more"),
        ("hang_seconds", float("nan"), "a number of 0 or more"),
        ("activation_budget", 2, "a number from 0 to 1"),
        ("dump", "ssa,pases", "some of converted,program,ssa,passes,kernels,steps"),
    ],
)
def test_a_value_without_a_meaning_is_refused(name, value, wanted):
    with pytest.raises(ArgumentError, match=f"flag '{name}' .* takes {wanted}, but received {value!r}"):
        config.set_flags({name: value})


def test_stages_may_be_listed_with_spaces():
    with config.flags_guard({"dump": "ssa, passes"}):
        assert is_dumped("ssa") and is_dumped("passes") and not is_dumped("kernels")


def test_every_flag_can_be_set_and_is_on_the_page():
    flags = {value.name: value for value in vars(config).values() if isinstance(value, config.Flag)}
    assert flags == config.FLAGS
    page = (Path(__file__).parents[2] / "docs" / "runtime.md").read_text(encoding="utf-8")
    assert [name for name, flag in flags.items() if f"`{flag.env}`" not in page] == []


def test_there_are_few_flags_and_each_says_what_it_does():
    assert len(config.FLAGS) <= 18
    assert all(flag.doc and flag.env for flag in config.FLAGS.values())


def test_the_cache_folder_is_the_flag_or_the_users(monkeypatch):
    with config.flags_guard({"cache_dir": "/some/where"}):
        assert config.cache_dir() == Path("/some/where")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert config.cache_dir() == Path("/xdg/vitrify")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert config.cache_dir() == Path.home() / ".cache" / "vitrify"
