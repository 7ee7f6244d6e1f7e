"""`iter` and `next`: where an iterator stands may depend on a tensor, and others may ask for what is left of it."""

from vitrify import nn

from .functions import N, X


def next_in_a_branch(x):
    items = iter([x, x * 2, x * 3])
    y = next(items)
    if y.sum() > 0:
        y = y + next(items)
    return y + next(items), next(items, None)


def next_on_both_paths(x):
    steps = iter(STEPS)
    y = next(steps)(x)
    y = next(steps)(y) if y.sum() > 0 else next(steps)(y) * 2
    return next(steps)(y)


def next_in_a_loop(x):
    numbers = iter(range(20))
    count = 0
    while x.sum() < 30:
        x = x + next(numbers)
        count += 1
    return x, count, next(numbers)


def rest_after_a_break(x):
    items = iter([x, x * 2, x * 3, x * 4])
    y = next(items)
    for item in items:
        y = y + item
        if y.sum() > 8:
            break
    return y, [item.sum() for item in items]


def rows_until_enough(x):
    total = 0
    rows = iter(x)
    for value in rows:
        if value < 0:
            continue
        total = total + value
        if total > 2:
            break
    return total, sum(rows)


def used_up_and_more(x):
    items = [x]
    asked = iter(items)
    total = 0
    for item in asked:
        total = total + item
        if len(items) < 3:
            items.append(item * 2)
    items.append(x)
    return total, next(asked, None), len(items)


def pairs_of_one_iterator(x):
    items = iter([x, x * 2, x * 3, x * 4])
    return [a - b for a, b in zip(items, items)]


def of_a_list_that_grew(x):
    items = [x]
    while x.sum() < 12:
        x = x + 1
        items.append(x)
    asked = iter(items)
    first = next(asked)
    total = next(asked, first)
    for item in asked:
        total = total + item
    return total, next(asked, None)


def a_list_that_grows_as_a_tensor_says(x):
    items = [x]
    asked = iter(items)
    count = 0
    for item in asked:
        count += 1
        if count < 4:
            items.append(item * 2)
        if item.sum() > 25:
            break
    return count, len(items), list(asked)


def taken_by_the_body(x):
    items = iter([x, x * 2, x * 3, x * 4, x * 5])
    pairs = []
    for item in items:
        pairs.append((item, next(items, None)))
    return pairs


def taken_by_the_body_as_a_tensor_says(x):
    rows = iter([row.sum() for row in (x, x * 2, x * 3, x * 4)])
    total = 0
    for row in rows:
        if row > 1:
            total = total + next(rows, 5)
        total = total + row * 2
        if total > 9:
            break
    return total


def one_more_item_by_a_loop_inside(x):
    numbers = iter([1, 2, 3, 4, 5, 6])
    seen = []
    for number in numbers:
        for other in numbers:
            if other % 2:
                break
            seen.append((number, other))
    return x * len(seen), seen


def options_and_words(x):
    words = iter(["a", "-n", "3", "b"])
    options, others = {}, []
    for word in words:
        if word.startswith("-"):
            options[word] = int(next(words))
        else:
            others.append(word)
    return x * options["-n"], others


def looked_for(x):
    numbers, sums = iter([1, 2, 3]), iter([x.sum(), x.max(), x.min(), x.mean()])
    there = 2 in numbers, 9 in iter({"a": 1}), x.max() in sums
    return there, list(numbers), [value * 2 for value in sums]


class Counting:
    """Counts without end."""

    def __init__(self, step):
        self.step = step

    def __iter__(self):
        number = 0
        while True:
            yield number
            number += self.step


def looked_for_in_what_has_no_end(x):
    return x * 2 if 6 in Counting(2) else x, 9 in Counting(3)


STEPS = [lambda x: x + 1, lambda x: x * 3, lambda x: x - 2]
LAYERS = nn.LayerList([nn.Linear(3, 3), nn.Linear(3, 3)])


def layers_one_by_one(x):
    layers = iter(LAYERS)
    x = next(layers)(x)
    return next(layers)(x) if x.sum() > 0 else next(layers)(-x)


CASES = [(f, ((X,), (N,))) for f in (
    next_in_a_branch, next_on_both_paths, next_in_a_loop, rest_after_a_break, rows_until_enough, used_up_and_more,
    pairs_of_one_iterator, of_a_list_that_grew, layers_one_by_one,
    a_list_that_grows_as_a_tensor_says, taken_by_the_body, taken_by_the_body_as_a_tensor_says,
    one_more_item_by_a_loop_inside, options_and_words, looked_for, looked_for_in_what_has_no_end,
)]  # fmt: skip
