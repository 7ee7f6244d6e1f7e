"""Profiler: states and steps, what is recorded, and that nothing is when it is off."""

from __future__ import annotations

import threading

import pytest

import vitrify as paddle
from vitrify.core.setting import WATCH
from vitrify.core.timeline import TIMELINE
from vitrify.profiler import Profiler, ProfilerState, ProfilerTarget, RecordEvent, SortedKeys, SummaryView
from vitrify.profiler import make_scheduler as scheduler_of

CLOSED, READY, RECORD, LAST = ProfilerState


def recorded(work, **options):
    """The Profiler after `work` ran under it."""
    profiler = Profiler(on_trace_ready=lambda _: None, **options)
    with profiler:
        work()
    return profiler


def names(profiler, *kinds):
    return [e.name for e in profiler.profiler_result.events if not kinds or e.kind.name in kinds]


# -- states -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cycle", "states"),
    [
        (
            {"closed": 1, "ready": 1, "record": 2, "repeat": 1, "skip_first": 1},
            [CLOSED, CLOSED, READY, RECORD, LAST, CLOSED],
        ),
        ({"closed": 0, "ready": 0, "record": 1}, [LAST, LAST, LAST]),
        ({"closed": 1, "ready": 0, "record": 1}, [CLOSED, LAST, CLOSED, LAST]),
        ({"closed": 0, "ready": 1, "record": 2, "repeat": 2}, [READY, RECORD, LAST, READY, RECORD, LAST, CLOSED]),
    ],
)  # fmt: skip
def test_schedulers_repeat_a_cycle(cycle, states):
    scheduler = scheduler_of(**cycle)
    assert [scheduler(step) for step in range(len(states))] == states


@pytest.mark.parametrize(
    ("given", "states"),
    [(None, [RECORD] * 3), ((1, 3), [READY, RECORD, LAST, CLOSED]), ((0, 2), [RECORD, LAST, CLOSED]),
     ((-1, 1), [LAST, CLOSED]), (lambda step: LAST if step == 2 else CLOSED, [CLOSED, CLOSED, LAST])],
)  # fmt: skip
def test_a_profiler_takes_pairs_and_functions(given, states):
    profiler = Profiler(scheduler=given)
    assert [profiler.scheduler(step) for step in range(len(states))] == states


@pytest.mark.parametrize("numbers", [(-1, 0, 1), (0, 0, 0), (0, -1, 2)])
def test_schedulers_without_a_cycle_are_refused(numbers):
    closed, ready, record = numbers
    with pytest.raises(ValueError, match="make no cycle"):
        scheduler_of(closed=closed, ready=ready, record=record)


def test_schedulers_that_are_none_are_refused():
    with pytest.raises(ValueError, match="has no steps"):
        Profiler(scheduler=(3, 1))
    with pytest.raises(ValueError, match="a function, a pair"):
        Profiler(scheduler=5)


def test_on_trace_ready_comes_when_the_last_step_of_a_cycle_is_over():
    seen = []
    profiler = Profiler(
        targets=[ProfilerTarget.CPU],
        scheduler=scheduler_of(closed=1, ready=0, record=2, repeat=2),
        on_trace_ready=lambda p: seen.append((p.step_num, names(p, "Operator", "ProfileStep"))),
    )
    with profiler:
        for _ in range(8):
            paddle.ones([2])
            profiler.step()
    assert seen == [
        (3, ["ProfileStep#1", "full", "ProfileStep#2", "full"]),
        (6, ["ProfileStep#4", "full", "ProfileStep#5", "full"]),
    ]


def test_cycles_that_touch_are_recorded_one_by_one():
    seen = []
    with Profiler(scheduler=lambda step: LAST, on_trace_ready=lambda p: seen.append(names(p, "Operator"))) as profiler:
        for _ in range(3):
            paddle.ones([2])
            profiler.step()
    assert seen == [["full"]] * 3 + [[]]


def test_stop_hands_over_what_there_is_and_leaves_nothing_on():
    profiler = recorded(lambda: paddle.ones([2]))
    assert names(profiler) == ["ProfileStep#0", "full", "full infer_meta", "full kernel"]
    assert not WATCH.on and TIMELINE.get() is None
    profiler.stop()
    profiler.step()
    assert profiler.step_info() == ""


def test_an_error_ends_the_recording_as_well():
    with pytest.raises(ZeroDivisionError), Profiler(on_trace_ready=lambda _: None):
        paddle.ones([2])
        raise ZeroDivisionError
    assert not WATCH.on


def test_two_at_once_are_refused():
    with Profiler(on_trace_ready=lambda _: None) as profiler:
        with pytest.raises(ValueError, match="another one records"):
            Profiler().start()
        with pytest.raises(ValueError, match="runs already"):
            profiler.start()


# -- events -----------------------------------------------------------------------------------------------------------


def test_the_users_own_events():
    event = RecordEvent("mine")

    @RecordEvent("decorated")
    def twice():
        with RecordEvent("inner"):
            paddle.ones([2])

    def work():
        event.begin()
        twice()
        event.end()
        event.end()

    twice()
    assert names(recorded(work), "PythonUserDefined") == ["mine", "decorated", "inner"]


def train(compiled=False):
    """A step of training as a function."""
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 1))
    optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.randn([8, 4])]), batch_size=4)
    forward = paddle.jit.to_static(net) if compiled else net

    def step():
        for (x,) in loader:
            forward(x).mean().backward()
            optimizer.step()
            optimizer.clear_grad()

    return step


def test_an_eager_step_of_training():
    step = train()
    step()
    profiler = recorded(step)
    assert names(profiler, "Forward") == ["Sequential", "Linear", "ReLU", "Linear"] * 2
    assert names(profiler, "Backward") == ["backward"] * 2
    assert names(profiler, "GradNode") == ["mean grad", "linear grad", "relu grad", "linear grad"] * 2
    assert names(profiler, "Optimization") == ["SGD.step"] * 2
    assert names(profiler, "Dataloader") == ["DataLoader"] * 3
    assert names(profiler, "Operator").count("linear") == 4


def test_a_compiled_step_of_training():
    step = train(compiled=True)
    assert "to_static builds forward" in names(recorded(step), "UserDefined")
    profiler = recorded(step)
    assert names(profiler, "UserDefined") == []
    assert names(profiler, "Program") == ["run_program forward", "run_program backward"] * 2
    instructions = [e for e in profiler.profiler_result.events if e.kind.name == "Instruction"]
    assert [e.name for e in instructions][:3] == ["linear", "relu", "linear"]
    assert all(e.args["where"].file.endswith(".py") for e in instructions)
    assert names(profiler, "Free")


def test_shapes_memory_arithmetic():
    def work():
        x = paddle.ones([4, 8])
        paddle.matmul(x, x.T).sum()

    plain = recorded(work).profiler_result
    assert not plain.samples and not any("inputs" in e.args or "flops" in e.args for e in plain.work)
    full = recorded(work, record_shapes=True, profile_memory=True, with_flops=True).profiler_result
    (product,) = [e for e in full.work if e.name == "matmul"]
    assert list(map(str, product.args["inputs"])) == ["float32[4, 8]", "float32[8, 4]"]
    assert product.args["flops"] == 2 * 4 * 4 * 8
    assert max(sample.bytes for sample in full.samples) == 4 * (4 * 8 + 4 * 4)


def test_memory_counts_each_buffer_once_and_notes_when_it_goes():
    def work():
        x = paddle.ones([100])
        y = x.reshape([10, 10])
        del x, y
        z = paddle.ones([50])
        z.add_(z)

    samples = recorded(work, profile_memory=True).profiler_result.samples
    assert max(s.bytes for s in samples) == 400
    assert samples[-1].bytes == 0 and 200 in [s.bytes for s in samples]


def test_other_threads_are_recorded_too():
    def work():
        thread = threading.Thread(target=lambda: paddle.ones([2]), name="helper")
        thread.start()
        thread.join()

    result = recorded(work).profiler_result
    assert [result.lanes[e.thread] for e in result.work] == ["helper"]


def test_what_is_recorded_computes_the_same():
    def f(x):
        while x.sum() < 100:
            x = x * 2
        return x.sum()

    for fn in (f, paddle.jit.to_static(f, full_graph=True)):
        results = []

        def work(fn=fn, results=results):
            x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
            y = fn(x)
            y.backward()
            results.append((y.item(), x.grad.tolist()))

        recorded(work)
        recorded(work)
        work()
        assert results[0] == results[1] == results[2]


def test_nothing_is_asked_while_nothing_is_on(monkeypatch):
    def f(x):
        return (paddle.matmul(x, x) + 1).reshape([4]).sum()

    def refuse(*args, **kwargs):
        raise AssertionError("asked")

    compiled, x = paddle.jit.to_static(f, full_graph=True), paddle.ones([2, 2])
    compiled(x)
    monkeypatch.setattr("vitrify.eager.engine.apply_watched", refuse)
    monkeypatch.setattr("vitrify.runtime.interpreter.observer_of", refuse)
    monkeypatch.setattr("vitrify.runtime.interpreter.in_force", refuse)
    assert f(x).item() == compiled(x).item() == 12
    with pytest.raises(AssertionError, match="asked"):
        recorded(lambda: f(x))
    with pytest.raises(AssertionError, match="asked"):
        recorded(lambda: compiled(x))


# -- the timer --------------------------------------------------------------------------------------------------------


def test_times_of_steps(capsys):
    profiler = Profiler(timer_only=True)
    loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.zeros([6, 1])]), batch_size=2)
    profiler.start()
    assert not WATCH.on
    for _ in loader:
        profiler.step(num_samples=2)
    info = profiler.step_info("images")
    assert info.startswith(" reader_cost: 0.") and " batch_cost: 0." in info and info.endswith("images/s")
    assert profiler.step_info() == ""
    profiler.stop()
    printed = capsys.readouterr().out
    assert "Reader Ratio: " in printed and "IPS Unit: images/s" in printed and "batch_cost" in printed
    assert profiler.profiler_result is None


def test_steps_are_counted_without_samples():
    with Profiler(on_trace_ready=lambda _: None) as profiler:
        profiler.step()
        assert profiler.step_info().endswith(" steps/s") and "reader" not in profiler.step_info()


# -- summary ----------------------------------------------------------------------------------------------------------


def text_of(profiler, capsys, **options):
    profiler.summary(**options)
    return capsys.readouterr().out


def test_a_summary_has_the_tables_that_have_rows(capsys):
    step = train()
    text = text_of(recorded(step, profile_memory=True, with_flops=True), capsys)
    for title in ("Lanes", "Overview", "Model", "Kernels", "Operators", "arithmetic: ", "Memory of what"):
        assert f"\n{title}" in text
    assert "Copies" not in text and "User-defined" not in text
    for stage in ("Dataloader", "Forward", "Backward", "Optimization", "Others"):
        assert f"\n  {stage}" in text
    assert "linear infer_meta" in text
    assert "linear infer_meta" not in text_of(recorded(step), capsys, op_detail=False)


def test_rows_are_sorted_and_shares_add_up(capsys):
    profiler = recorded(train())
    shown = {}
    columns = {SortedKeys.CPUTotal: 2, SortedKeys.CPUAvg: 4, SortedKeys.GPUMax: 5, SortedKeys.CPUMin: 6}
    for key, column in columns.items():
        text = text_of(profiler, capsys, sorted_by=key, op_detail=False, time_unit="us", views=SummaryView.OperatorView)
        rows = [line.split() for line in text.split("Own share")[1].splitlines()[2:] if line]
        values = [float(row[column]) for row in rows]
        assert values == sorted(values, reverse=True)
        shown[key] = {row[0] for row in rows}
        assert sum(float(row[7].rstrip("%")) for row in rows) == pytest.approx(100, abs=1)
    assert len(set(map(frozenset, shown.values()))) == 1


def test_tables_by_thread(capsys):
    def work():
        paddle.ones([2])
        thread = threading.Thread(target=lambda: paddle.zeros([2]).abs(), name="helper")
        thread.start()
        thread.join()

    text = text_of(recorded(work), capsys, thread_sep=True, views=[SummaryView.OperatorView])
    assert "Operators of MainThread" in text and "Operators of helper" in text


def test_nothing_recorded(capsys):
    profiler = Profiler()
    assert text_of(profiler, capsys) == "nothing was recorded\n"
    with pytest.raises(ValueError, match="nothing was recorded"):
        profiler.export("never.json")
    with pytest.raises(ValueError, match="time_unit is one of"):
        recorded(lambda: None).summary(time_unit="h")


# -- profile ----------------------------------------------------------------------------------------------------------


def test_profile_shows_each_instruction_with_its_line():
    def f(x):
        y = paddle.tanh(x)
        return (y * 2).sum()

    found = paddle.jit.profile(paddle.jit.to_static(f, full_graph=True), paddle.ones([64, 64]))
    assert {cost.operator for cost in found.costs} == {"tanh", "multiply", "sum"}
    assert all(cost.calls == found.runs and cost.program == "run_program forward" for cost in found.costs)
    assert sorted(cost.own for cost in found.costs)[::-1] == [cost.own for cost in found.costs]
    assert "test_profiler.py" in str(found) and "y = paddle.tanh(x)" in str(found)
    eager = paddle.jit.profile(f, paddle.ones([64, 64]))
    assert {(cost.program, cost.where.function) for cost in eager.costs} == {("eager", "f")}


def test_profile_of_an_executor():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        y = paddle.static.data("x", [2]) * 3
    exe = paddle.static.Executor(paddle.CPUPlace())
    found = paddle.jit.profile(exe.run, main, feed={"x": [1.0, 2.0]}, fetch_list=[y])
    assert [cost.program for cost in found.costs if cost.operator == "multiply"] == ["Executor.run"]
    assert not WATCH.on


def test_profile_counts_what_loops_run_themselves():
    def f(x):
        while x.sum() < 100:
            x = x * 2
        return x

    found = paddle.jit.profile(paddle.jit.to_static(f, full_graph=True), paddle.ones([10]))
    by_name = {cost.operator: cost for cost in found.costs}
    assert by_name["multiply"].calls == 4 * found.runs and by_name["while"].calls == found.runs
    assert sum(cost.own for cost in found.costs) <= found.result.duration
