"""Prepared programs: feed and fetch operators around a copy of what must run."""

import numpy as np
import pytest

import vitrify as paddle
from vitrify import static
from vitrify.ir.content_hash import content_hash
from vitrify.ir.parse import parse_program
from vitrify.ir.verify import verify
from vitrify.runtime.executor import StandaloneExecutor
from vitrify.runtime.prepare import RunSpec, prepare
from vitrify.runtime.scope import Scope


def two_outputs():
    """y = x * 2, z = x + 1, and a counter that each run raises by one."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 2])
        count = static.create_global_var([1], 0.0, "float32", persistable=True, name="count")
        paddle.assign(count + 1, count)
        y, z = x * 2, x + 1
    return main, startup, y.name, z.name


def run(main, spec, feed=(), scope=None):
    return StandaloneExecutor(prepare(main, spec)).run(dict(feed), scope or Scope())


def scope_with(**values):
    scope = Scope()
    for name, value in values.items():
        scope.var(name).set(np.array(value, "float32"))
    return scope


def test_feed_and_fetch_are_operators():
    main, _, y, _ = two_outputs()
    text = str(prepare(main, RunSpec(("x",), (y,), prune=True)).program)
    lines = [line.split("#")[0].strip() for line in text.splitlines() if "=" in line]
    assert lines == [
        "%x : float32[-1, 2] = feed(%feed_0) {col=0}",
        f"%{y} : float32[-1, 2] = multiply(%x, 2:float32)",
        f"%fetch_0 : float32[-1, 2] = fetch(%{y}) {{col=0}}",
    ]
    assert "(%feed_0 : float32[-1, 2]) -> (%fetch_0)" in text


def test_the_users_program_stays_as_it_was():
    main, _, y, _ = two_outputs()
    before, text = content_hash(main), str(main)
    prepared = prepare(main, RunSpec(("x",), (y,)))
    assert (content_hash(main), str(main)) == (before, text) and prepared.program is not main


@pytest.mark.parametrize("prune", [False, True])
def test_a_prepared_program_is_well_formed_and_reads_back(prune):
    main, _, y, z = two_outputs()
    program = prepare(main, RunSpec(("x", "count"), (y, z, "x", "count", y), prune)).program
    verify(program)
    assert content_hash(parse_program(str(program))) == content_hash(program)


def test_the_holders_have_the_names_given():
    main, _, y, _ = two_outputs()
    text = str(prepare(main, RunSpec(("x",), (y,), feed_name="given", fetch_name="taken")).program)
    assert "= feed(%given_0" in text and "%taken_0 : float32[-1, 2] = fetch" in text


def test_updates_run_unless_pruned():
    main, _, y, _ = two_outputs()
    scope, feed = scope_with(count=[0]), {"x": np.ones([1, 2], "float32")}
    run(main, RunSpec(("x",), (y,)), feed, scope)
    assert scope.value_of("count").tolist() == [1]
    assert prepare(main, RunSpec(("x",), (y,), prune=True)).written == ()
    run(main, RunSpec(("x",), (y,), prune=True), feed, scope)
    assert scope.value_of("count").tolist() == [1]


def test_what_nothing_sees_does_not_run():
    main, _, y, _ = two_outputs()
    kinds = [op.op.name for op in prepare(main, RunSpec(("x",), (y,))).block.ops]
    assert kinds == ["feed", "add", "assign", "multiply", "fetch"]


def test_a_fetched_value_belongs_to_the_caller():
    main, _, y, _ = two_outputs()
    x, scope = np.ones([1, 2], "float32"), scope_with(count=[0])
    fetched = run(main, RunSpec(("x",), ("x", "count", y, y)), {"x": x}, scope)
    for value in fetched:
        value[...] = 7
    assert x.tolist() == [[1, 1]] and scope.value_of("count").tolist() == [1]
    assert fetched[2] is not fetched[3]


def test_a_fed_parameter_is_kept_as_a_copy():
    main, *_ = two_outputs()
    given, scope = np.array([5], "float32"), scope_with(count=[0])
    (count,) = run(main, RunSpec(("x", "count"), ("count",)), {"x": np.ones([1, 2], "float32"), "count": given}, scope)
    assert count.tolist() == [6] and scope.value_of("count").tolist() == [6]
    with static.program_guard(static.Program(), static.Program()):
        count = static.create_global_var([1], 0.0, "float32", persistable=True, name="count")
        read = (count * 2).name
        only_read = static.default_main_program()
    (twice,) = run(only_read, RunSpec(("count",), (read,)), {"count": given}, scope)
    given[0] = 9
    assert twice.tolist() == [10] and scope.value_of("count").tolist() == [5]


def test_a_feed_for_what_is_computed_counts_only_when_pruned():
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [2])
        y = x * 2
        z = y + 1
    feed = {"x": np.ones(2, "float32"), y.name: np.full(2, 10, "float32")}
    message = rf"computes '{y.name}' itself at .*test_prepare.py:\d+, so the value is not used"
    with pytest.warns(UserWarning, match=message):
        (out,) = run(main, RunSpec(tuple(feed), (z.name,)), feed)
    assert out.tolist() == [3, 3]
    del feed["x"]
    (out,) = run(main, RunSpec(tuple(feed), (z.name,), prune=True), feed)
    assert out.tolist() == [11, 11]


def test_unknown_feeds_are_passed_over_with_a_warning_at_the_users_line():
    main, _, y, _ = two_outputs()
    with pytest.warns(UserWarning, match="no variable 'xs', the value is not used; did you mean 'x'") as seen:
        prepare(main, RunSpec(("x", "xs"), (y,)))
    assert seen[0].filename == __file__


def test_missing_feeds_name_the_line_that_reads_them():
    main, _, y, _ = two_outputs()
    message = r"(?s)'x' \(float32\[\?, 2\]\) is needed but was not fed; nothing was fed.*x \* 2"
    with pytest.raises(ValueError, match=message):
        prepare(main, RunSpec((), (y,)))
    with pytest.raises(ValueError, match=r"'x' .* was not fed"):
        prepare(main, RunSpec((), ("x",)))


def test_unknown_fetches_name_what_is_like_them():
    main, *_ = two_outputs()
    with pytest.raises(ValueError, match=r"(?s)no variable 'counter'.*did you mean 'count'"):
        prepare(main, RunSpec(("x",), ("counter",)))


def test_blocks_of_control_flow_are_prepared_too():
    @paddle.jit.to_static
    def steps(v):
        while v.sum() < 100:
            v = v * 2
        return v

    main = static.Program()
    with static.program_guard(main, static.Program()):
        out = steps(static.data("x", [2]))
        unused = steps(static.data("w", [2]))
    prepared = prepare(main, RunSpec(("x",), (out.name,)))
    verify(prepared.program)
    assert len(prepared.program.blocks) < len(main.blocks) and unused.name not in prepared.block.vars
    assert run(main, RunSpec(("x",), (out.name,)), {"x": np.ones(2, "float32")})[0].tolist() == [64, 64]
