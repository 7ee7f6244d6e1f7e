"""Execution options, and the strategies that end in them."""

from dataclasses import FrozenInstanceError

import pytest

from vitrify.runtime.options import DEFAULT, ExecutionOptions
from vitrify.runtime.strategy import BuildStrategy, ExecutionStrategy


def test_options_are_values():
    assert ExecutionOptions(threads=2) == ExecutionOptions(threads=2) != DEFAULT
    assert hash(ExecutionOptions()) == hash(DEFAULT) and repr(DEFAULT) == "ExecutionOptions()"
    with pytest.raises(FrozenInstanceError):
        DEFAULT.serial = True


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mode": "fast"}, "mode is one of .*, but received 'fast'"),
        ({"gc": "never"}, "gc is one of .*, but received 'never'"),
        ({"inplace": 1}, "inplace takes bool, but received 1"),
        ({"threads": -1}, "threads is 0 or more, but received -1"),
        ({"keep_scopes": 0}, "keep_scopes is 1 or more, but received 0"),
        ({"iterations": 0}, "iterations is 1 or more, but received 0"),
    ],
)
def test_options_are_checked(given, message):
    with pytest.raises((TypeError, ValueError), match=message):
        ExecutionOptions(**given)


@pytest.mark.parametrize(
    ("switch", "value", "field", "expected"),
    [
        ("enable_inplace", False, "inplace", False),
        ("enable_addto", True, "addto", True),
        ("memory_optimize", False, "gc", "none"),
        ("memory_optimize", True, "gc", "fast"),
        ("memory_optimize", None, "gc", "fast"),
        ("sequential_run", True, "serial", True),
        ("enable_auto_fusion", False, "passes", False),
        ("enable_auto_fusion", True, "passes", True),
        ("fast_math", True, "fast_math", True),
        ("build_cinn_pass", True, "native", "always"),
        ("build_cinn_pass", False, "native", "auto"),
    ],
)
def test_build_switches_that_mean_something(switch, value, field, expected):
    strategy = BuildStrategy()
    setattr(strategy, switch, value)
    assert getattr(strategy.options(), field) == expected


@pytest.mark.parametrize(
    ("switch", "field"),
    [
        ("num_threads", "threads"), ("num_iteration_per_drop_scope", "keep_scopes"),
        ("num_iteration_per_run", "iterations"),
    ],
)  # fmt: skip
def test_execution_switches_that_mean_something(switch, field):
    strategy = ExecutionStrategy()
    setattr(strategy, switch, 3)
    assert getattr(strategy.options(), field) == 3


def test_strategies_show_what_differs():
    strategy = BuildStrategy()
    assert repr(strategy) == "BuildStrategy()"
    strategy.enable_addto, strategy.enable_inplace = True, True
    assert repr(strategy) == "BuildStrategy(enable_addto=True)"
    assert BuildStrategy().enable_addto is False, "another strategy is left alone"


def test_unknown_switches_are_refused():
    strategy = BuildStrategy()
    with pytest.raises(AttributeError, match="no switch 'enable_inplac'; did you mean 'enable_inplace'"):
        strategy.enable_inplac = True
    with pytest.raises(AttributeError, match="ExecutionStrategy has no switch 'threads'"):
        ExecutionStrategy().threads
    assert not hasattr(strategy, "zzz")


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("enable_inplace", "yes"), ("enable_inplace", None), ("enable_inplace", 3), ("memory_optimize", 1.5),
        ("debug_graphviz_path", 3), ("num_trainers", "a"), ("num_trainers", True), ("reduce_strategy", 1),
        ("trainers_endpoints", 3),
    ],
)  # fmt: skip
def test_values_are_checked(switch, value):
    with pytest.raises(TypeError, match=rf"BuildStrategy.{switch} takes .*, but received"):
        setattr(BuildStrategy(), switch, value)


def test_numbers_have_bounds():
    with pytest.raises(ValueError, match="num_threads is 0 or more, but received -1"):
        ExecutionStrategy().num_threads = -1


def test_every_switch_takes_its_default_and_says_what_it_does():
    for cls in (BuildStrategy, ExecutionStrategy):
        for name, switch in cls.switches().items():
            strategy = cls()
            setattr(strategy, name, getattr(strategy, name))
            assert len(switch.__doc__) > 30 and strategy.changed() == {}


def test_reduce_strategies_are_members():
    strategy = BuildStrategy()
    strategy.reduce_strategy = BuildStrategy.ReduceStrategy.Reduce
    assert strategy.reduce_strategy is BuildStrategy.ReduceStrategy.Reduce and strategy.options() == DEFAULT
