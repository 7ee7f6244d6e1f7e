"""Threads keep to the memory that the order of a program needs, whichever of them is fast."""

from __future__ import annotations

import random

import numpy as np
import pytest

import vitrify as paddle
from tests.runtime import graphs
from vitrify.runtime import schedule as schedules
from vitrify.runtime.budget import Account, Budget, take
from vitrify.runtime.lowering import lower
from vitrify.runtime.options import ExecutionOptions
from vitrify.runtime.schedule import makespan


@pytest.fixture(autouse=True)
def _small_programs_count(monkeypatch):
    monkeypatch.setattr("vitrify.runtime.budget.LEAST_BYTES", 0)


def lowered(made):
    main, inputs, outputs = made
    return lower(main.global_block(), inputs, outputs, options=ExecutionOptions(mode="threads", threads=3))


def most_in_use(schedule, budget, seed, threads=3):
    """The most bytes in use while instructions end in an order drawn at random, counted beside the account."""
    rng = random.Random(seed)
    account, lives = Account(budget), budget.lives
    waiting, references = [*schedule.waiting], dict(schedule.references)
    holders = dict(lives.holders)
    queue = sorted(schedule.rank[i] for i, count in enumerate(waiting) if not count)
    running, ended = [], 0
    used = most = sum(size for slot, size in lives.sizes.items() if lives.born[slot] < 0)
    while queue or running:
        while len(running) < threads and rng.random() < 0.8 and (index := take(queue, account)) is not None:
            account.started(index)
            running.append(index)
            used += sum(size for slot, size in lives.sizes.items() if lives.born[slot] == index)
            most = max(most, used)
        if not running:
            assert account.admits(min(index for _, index in queue)), "the first that is not done may always start"
            continue
        index = running.pop(rng.randrange(len(running)))
        ended += 1
        account.ended(index)
        for slot in schedule.frees[index]:
            references[slot] -= 1
            if not references[slot]:
                account.freed(slot)
                for part in budget.reaches[slot]:
                    holders[part] -= 1
                    used -= 0 if holders[part] else lives.sizes[part]
        for after in schedule.after[index]:
            waiting[after] -= 1
            if not waiting[after]:
                queue.append(schedule.rank[after])
        queue.sort()
    assert ended == len(schedule.instructions)
    return most


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("owned", [(), (0, 1, 2)])
def test_no_schedule_uses_more_than_the_budget(seed, owned, monkeypatch):
    monkeypatch.setattr("vitrify.runtime.inplace.LEAST_BYTES", 0)
    schedule = lowered(graphs.program(seed, 40))._schedule
    tight = Budget.of(schedule.instructions, schedule.kept, frozenset(owned))
    for budget in (tight, tight.more(6 * 6 * 4)):
        found = [most_in_use(schedule, budget, draw) for draw in range(3)]
        assert max(found) <= budget.bytes


def chains(count=2, length=4, size=64):
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [size, size])
        outputs = []
        for scale in range(count):
            y = x * float(scale + 1)
            for _ in range(length):
                y = paddle.matmul(y, x)
            outputs.append(y)
    return main, [x], outputs


def training(depth=12, width=64):
    """Forward and backward of a deep perceptron, as one program."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        x = paddle.static.data("x", [2 * width, width])
        y = x
        for _ in range(depth):
            y = paddle.nn.functional.relu(paddle.matmul(y, paddle.static.create_parameter([width, width], "float32")))
        loss = y.mean(0).mean()
        pairs = paddle.static.append_backward(loss)
        return main, [x], [loss, *[gradient for _, gradient in pairs]]


def test_two_chains_run_at_once_though_that_takes_another_buffer():
    schedule = lowered(chains())._schedule
    x = np.ones((64, 64), "float32")
    serial = sum(schedule.costs)
    tight, chosen = (Budget.of(schedule.instructions, schedule.kept, ()), schedule.budget([x], 2))
    assert makespan(schedule, tight, 2) > 0.65 * serial
    assert makespan(schedule, chosen, 2) < 0.55 * serial
    assert chosen.bytes == tight.bytes + 64 * 64 * 4


def test_a_training_program_gains_from_threads_without_more_memory():
    main, inputs, outputs = training()
    parameters = [v for v in main.global_block().vars.values() if v.persistable]
    schedule = lowered((main, [*inputs, *parameters], outputs))._schedule
    budget = schedule.budget([np.ones((2, 2), "float32")] * (1 + len(parameters)), 2)
    assert budget.bytes == max(budget.live), "no more than the order of the program needs"
    fastest = makespan(schedule, budget.more(1 << 40), 2)
    assert makespan(schedule, budget, 2) <= schedules.WORTH * fastest
    assert max(most_in_use(schedule, budget, draw, 2) for draw in range(5)) <= budget.bytes
    freely = max(most_in_use(schedule, budget.more(1 << 40), draw, 2) for draw in range(5))
    assert freely > 1.1 * budget.bytes, "left alone, the longest chain runs ahead of the gradients of weights"


def test_an_input_counts_only_if_the_run_alone_has_it():
    schedule = lowered(chains(1))._schedule
    frame = [np.ones((64, 64), "float32")]
    assert schedule.budget(frame, 2).lives.sizes[0] == 64 * 64 * 4
    held = frame[0]
    assert not schedule.budget(frame, 2).lives.sizes.get(0)
    assert not schedule.budget([held[:]], 2).lives.sizes.get(0), "the memory of a view is another's"
