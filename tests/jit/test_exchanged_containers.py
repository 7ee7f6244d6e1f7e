"""Containers that a program changes and that others take the place of between its calls."""

import pytest

import vitrify as paddle

from ..end_to_end.differential import content


class Store:
    def __init__(self):
        self.log = []
        self.items = [1.0, 2.0]
        self.table = {}
        self.seen = {7}
        self.inner = {"rows": [[], []]}

    def append(self, x):
        self.log.append(x)

    def set_item(self, x):
        self.items[0] = x

    def change_both(self, x):
        self.items[0] = self.items[1]
        self.log.append(x)

    def update(self, x):
        self.table.update(a=x)
        return self.table

    def add(self, x):
        self.seen.add(len(self.log))
        return len(self.seen)

    def give_back(self, x):
        return self.items, len(self.items)

    def fill_inner(self, x):
        if len(self.inner["rows"]) == 2:
            self.inner["rows"][1].append(x)


METHODS = ["append", "add", "set_item", "change_both", "update", "give_back", "fill_inner"]


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("name", METHODS)
def test_changes_reach_the_container_that_is_there_now(name, full_graph):
    eager, static = Store(), Store()
    compiled = paddle.jit.to_static(getattr(static, name), full_graph=full_graph)
    for number in range(4):
        x = paddle.to_tensor([float(number)])
        given = [(store, call(x)) for store, call in ((eager, getattr(eager, name)), (static, compiled))]
        assert content(given[0], {}) == content(given[1], {})
        if number % 2:
            for store in (eager, static):
                store.__init__()


def test_an_exchanged_log_asks_for_no_new_program():
    store = Store()
    compiled = paddle.jit.to_static(store.append, full_graph=True)
    for number in range(3):
        compiled(paddle.to_tensor([float(number)]))
        store.log = []
    assert len(compiled.program_cache) == 1


def test_one_container_in_two_places_is_told_from_two():
    store = Store()
    store.table = {"log": store.log}

    def both(x):
        store.log.append(x)
        store.table["log"].append(x * 2)
        return len(store.table)

    compiled = paddle.jit.to_static(both, full_graph=True)
    x = paddle.to_tensor([1.0])
    compiled(x)
    assert len(store.log) == 2
    store.log = []
    compiled(x)
    assert (len(store.log), len(store.table["log"])) == (1, 3)
