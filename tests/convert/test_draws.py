"""Random numbers of `random` and `numpy.random`: each run draws what eager code draws, and leaves the generator so."""

import random

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare
from vitrify.core.errors import UnsupportedError

OWN = random.Random(3)
STATE = np.random.RandomState(4)
GENERATOR = np.random.default_rng(5)


def layers_left_out(x):
    for i in range(4):
        if random.random() < 0.5:
            continue
        x = x * 2 + i
    return x


def in_a_tensor_loop(x):
    while x.abs().sum() < 20:
        x = x + 1 if np.random.uniform() < 0.3 else x * 1.5
    return x


def in_a_branch(x):
    return x * random.random() if x.sum() > 0 else x - random.random()


def in_recursion(x):
    def grown(v, depth):
        return v if depth == 0 or random.random() < 0.2 else grown(v * 1.1 + 1, depth - 1)

    return grown(x, 4)


def order_of_a_list(x):
    parts = [x, x * 2, x + 1]
    random.shuffle(parts)
    return parts


def drawn_after_a_change(x):
    parts = [x, x * 2]
    random.shuffle(parts)
    parts.append(random.choice(parts))
    return parts, random.choice(parts)


def order_of_numbers(x):
    order = [0, 1, 2]
    np.random.shuffle(order)
    return x * order[0] + order[1]


def one_of_the_functions(x):
    return random.choice([paddle.tanh, paddle.exp, lambda v: v * 3])(x)


def raised(x):
    try:
        if random.random() < 0.5:
            raise ValueError("drawn")
    except ValueError:
        return x * 3
    return x


def mixed(x):
    share, order = np.random.beta(0.4, 0.4), np.random.permutation(3)
    return share * x + (1 - share) * x[order]


def started_anew(x):
    random.seed(5)
    np.random.seed(6)
    return x * random.random() + np.random.rand()


def a_number_of_turns(x):
    count = random.randint(1, 4)
    for i in range(count):
        x = x * 1.5 + i
    return x, count


def put_at_positions(x):
    y = x * 1
    y[GENERATOR.permutation(3)[:2]] = 5.0
    return y


def printed(x):
    print(f"drew {random.randrange(9)}")
    return x


CASES = [
    layers_left_out, in_a_tensor_loop, in_a_branch, in_recursion, order_of_a_list, drawn_after_a_change,
    order_of_numbers, one_of_the_functions, raised, mixed, started_anew, a_number_of_turns, put_at_positions, printed,
    lambda x: random.choice([x, x * 2, x - 1]),
    lambda x: paddle.stack(random.choices([x, x + 1], weights=[1, 2], k=3)),
    lambda x: random.sample([x, x + 1, x + 2], 2),
    lambda x: (x, random.choice([None])),
    lambda x: x * OWN.gauss(0, 1) + STATE.randint(3) + GENERATOR.integers(9),
    lambda x: x * paddle.to_tensor(GENERATOR.random(3), dtype="float32"),
    lambda x: x + np.random.randn(3).astype("float32"),
    lambda x: x * float(np.random.choice([1.0, 2.0, 3.0], p=[0.2, 0.3, 0.5])),
    lambda x: paddle.where(paddle.to_tensor(np.random.rand(3) < 0.5), x, -x),
    lambda x: (x, random.random(), np.random.rand(2), np.random.randint(9), GENERATOR.normal()),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__.strip("<>"))
def test_each_run_draws_what_eager_code_draws(case, capsys):
    static = paddle.jit.to_static(case, full_graph=True)
    wanted = _calls(case), _states(), capsys.readouterr().out
    assert (_calls(static), _states(), capsys.readouterr().out) == wanted
    assert len(list(static.program_cache.programs())) == 1


def _calls(function):
    """What three calls behind one seed give, with their gradients."""
    random.seed(1)
    np.random.seed(2)
    OWN.seed(3)
    STATE.seed(4)
    GENERATOR.bit_generator.state = np.random.PCG64(5).state
    return [_one_call(function) for _ in range(3)]


def _one_call(function):
    x = paddle.to_tensor([0.3, -0.2, 0.7], stop_gradient=False)
    given = function(x)
    given = list(given) if isinstance(given, (list, tuple)) else [given]
    sum(v.sum() for v in given if isinstance(v, paddle.Tensor)).backward()
    return [_seen(v) for v in (*given, x.grad)]


def _seen(value):
    held = value.numpy() if isinstance(value, paddle.Tensor) else value
    held = np.asarray(0 if held is None else held)
    return type(value), held.dtype, held.astype("float64").round(4).tolist()


def _states():
    legacy = [(*state[1].tolist(), *state[2:]) for state in (np.random.get_state(), STATE.get_state())]
    return random.getstate(), OWN.getstate(), legacy, GENERATOR.bit_generator.state


def test_building_a_program_draws_nothing():
    static = paddle.jit.to_static(layers_left_out, full_graph=True, input_spec=[paddle.static.InputSpec([3])])
    before = random.getstate()
    assert "host_draw" in str(static.main_program)
    assert random.getstate() == before


def test_layers_are_left_out_in_training_alone():
    class Deep(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.parts = paddle.nn.LayerList([paddle.nn.Linear(3, 3) for _ in range(3)])

        def forward(self, x):
            for part in self.parts:
                if self.training and np.random.uniform(0, 1) < 0.5:
                    continue
                x = part(x)
            return x

    deep, x = Deep(), paddle.ones([2, 3])
    static = paddle.jit.to_static(deep.forward, full_graph=True)
    for mode in (deep.train, deep.eval):
        mode()
        np.random.seed(0)
        wanted = [deep(x).numpy() for _ in range(3)]
        np.random.seed(0)
        np.testing.assert_allclose([static(x).numpy() for _ in range(3)], wanted, rtol=1e-6)


def test_arguments_are_checked_where_eager_code_checks_them():
    with pytest.raises(ValueError, match="empty range"):
        paddle.jit.to_static(lambda x: x * random.randint(5, 2), full_graph=True)(paddle.ones([1]))
    with pytest.raises(IndexError) as wanted:
        random.choice([])
    with pytest.raises(IndexError, match=str(wanted.value)):
        paddle.jit.to_static(lambda x: x * random.choice([]), full_graph=True)(paddle.ones([1]))


def test_a_gradient_that_computes_the_function_again_is_refused():
    static = paddle.jit.to_static(lambda x: x**3 * random.random(), full_graph=True)
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = static(x).sum()
    with pytest.raises(UnsupportedError, match="would draw others"):
        paddle.grad(y, x, create_graph=True)


def test_samples_and_choices_of_a_drawn_number():
    def sampled(x):
        random.seed(4)
        k = random.randint(0, 3)
        found = random.sample([1.0, 2.0, 3.0, 4.0], k)
        for v in found:
            x = x * v
        return x, found, "".join(random.choices(["a", "b", "c"], k=k)), random.random()

    compare(sampled, ([1.0, 2.0],), ([-1.0, -2.0],))
