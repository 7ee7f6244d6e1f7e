"""Recurrent cells and networks against NumPy, step by step."""

import numpy as np
import pytest

from vitrify import nn, to_tensor
from vitrify.core.errors import ArgumentError
from vitrify.core.rng import rng_guard
from vitrify.jit import to_static
from vitrify.static import InputSpec

N, T, IN, H = 2, 5, 3, 4


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def simple_step(w, x, h):
    h = np.tanh(x @ w["weight_ih"].T + w["bias_ih"] + h @ w["weight_hh"].T + w["bias_hh"])
    return h, h


def lstm_step(w, x, state):
    h, c = state
    i, f, g, o = np.split(x @ w["weight_ih"].T + w["bias_ih"] + h @ w["weight_hh"].T + w["bias_hh"], 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    if "weight_ho" in w:
        h = h @ w["weight_ho"]
    return h, (h, c)


def gru_step(w, x, h):
    xr, xz, xn = np.split(x @ w["weight_ih"].T + w["bias_ih"], 3, axis=-1)
    hr, hz, hn = np.split(h @ w["weight_hh"].T + w["bias_hh"], 3, axis=-1)
    z = sigmoid(xz + hz)
    h = z * h + (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn)
    return h, h


STEPS = {"SimpleRNN": simple_step, "LSTM": lstm_step, "GRU": gru_step}
KINDS = list(STEPS)


def arrays(cell):
    return {name: param.numpy().astype("float64") for name, param in cell.named_parameters()}


def zeros_for(cell):
    shapes = cell.state_shape
    if isinstance(shapes[0], tuple):
        return tuple(np.zeros((N, *s)) for s in shapes)
    return np.zeros((N, *shapes))


def run(step, w, xs, state, lengths=None, backward=False):
    """Outputs [T, N, H] and the last state of one direction; xs: [T, N, in]."""
    outputs = [None] * len(xs)
    for t in reversed(range(len(xs))) if backward else range(len(xs)):
        outputs[t], fresh = step(w, xs[t], state)
        if lengths is not None:
            keep = (t < np.asarray(lengths))[:, None]
            pairs = (fresh, state) if isinstance(state, tuple) else ((fresh,), (state,))
            merged = tuple(np.where(keep, a, b) for a, b in zip(*pairs))
            fresh = merged if isinstance(state, tuple) else merged[0]
        state = fresh
    return np.stack(outputs), state


def network(step, net, xs, lengths=None):
    """Outputs and last states of all layers and directions; xs: [T, N, in]."""
    finals = []
    for layer in net:
        ways = []
        for cell, backward in zip(layer.children(), (False, True)):
            outputs, state = run(step, arrays(cell), xs, zeros_for(cell), lengths, backward)
            ways.append(outputs)
            finals.append(state)
        xs = np.concatenate(ways, axis=-1)
        if lengths is not None:
            xs = xs * (np.arange(len(xs))[:, None] < np.asarray(lengths))[:, :, None]
    return xs, finals


def drawn(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def close(actual, expected):
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-4, atol=1e-5)


def stacked(states, finals):
    """Compare the network's states with those of its cells."""
    if isinstance(states, tuple):
        for part, expected in zip(states, zip(*finals)):
            close(part, np.stack(expected))
    else:
        close(states, np.stack(finals))


# --- cells ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_makes_one_step(kind):
    cell = getattr(nn, kind.removesuffix("RNN") + ("RNNCell" if kind == "SimpleRNN" else "Cell"))(IN, H)
    x = drawn(N, IN)
    output, state = cell(to_tensor(x))
    expected, final = STEPS[kind](arrays(cell), x, zeros_for(cell))
    close(output, expected)
    output, state = cell(to_tensor(x), state)
    close(output, STEPS[kind](arrays(cell), x, final)[0])


def test_weights_lie_within_their_bound():
    with rng_guard(0):
        cell = nn.LSTMCell(100, 64)
    for param in cell.parameters():
        assert 0.12 < abs(param.numpy()).max() <= 0.125


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"bias_ih_attr": False}, ["bias_hh"]),
        ({"bias_hh_attr": False}, ["bias_ih"]),
        ({"bias_ih_attr": False, "bias_hh_attr": False}, []),
        ({"weight_ih_attr": False}, ["bias_hh", "bias_ih"]),
    ],
)
@pytest.mark.parametrize("kind", ["SimpleRNN", "LSTM", "GRU"])
def test_a_network_has_no_names_for_biases_that_are_left_out(kind, settings, named):
    names = getattr(nn, kind)(IN, H, direction="bidirect", **settings).state_dict()
    flat = [f"{name}_l0{way}" for name in (*named, "weight_hh", "weight_ih") for way in ("", "_reverse")]
    assert sorted(name for name in names if "." not in name) == flat
    assert sum(name.startswith("0.") for name in names) == 8


def test_attributes_set_to_false_give_constants():
    cell = nn.GRUCell(IN, H, weight_hh_attr=False, bias_ih_attr=False)
    assert (cell.weight_hh.numpy() == 1).all() and (cell.bias_ih.numpy() == 0).all()
    assert cell.weight_hh.stop_gradient and cell.bias_ih.stop_gradient and not cell.weight_ih.stop_gradient


def test_initial_states():
    cell = nn.LSTMCell(IN, H, proj_size=2)
    assert [s.shape for s in cell.get_initial_states(to_tensor(drawn(7, IN)))] == [[7, 2], [7, H]]
    assert cell.get_initial_states(to_tensor(drawn(7, 5, IN)), [6], "float64", 2.0, 1).tolist() == [[2.0] * 6] * 5
    assert nn.GRUCell(IN, H).get_initial_states(to_tensor(drawn(7, IN)), shape=[-1, 2]).shape == [7, 2]
    assert cell.state_dtype == "float32"
    with pytest.raises(NotImplementedError, match="state_shape"):
        nn.RNNCellBase().get_initial_states(to_tensor([1.0]))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: nn.SimpleRNNCell(IN, 0), "hidden_size must be greater than 0"),
        (lambda: nn.SimpleRNNCell(IN, H, activation="gelu"), "activation must be tanh or relu"),
        (lambda: nn.LSTMCell(IN, H, proj_size=H), "must be smaller than hidden_size"),
        (lambda: nn.LSTM(IN, H, direction="backward"), "direction must be forward or bidirect"),
        (lambda: nn.BiRNN(nn.GRUCell(2, H), nn.GRUCell(3, H)), "takes inputs of 2, the other of 3"),
    ],
)
def test_errors(make, text):
    with pytest.raises(ArgumentError, match=text):
        make()


# --- sequences -----------------------------------------------------------------------------------------------------

SHAPES = [
    {},
    {"num_layers": 2},
    {"direction": "bidirect"},
    {"num_layers": 2, "direction": "bidirectional"},
    {"time_major": True, "num_layers": 2},
]


@pytest.mark.parametrize("settings", SHAPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [None, [2, 5]], ids=str)
def test_networks(kind, settings, lengths):
    net = getattr(nn, kind)(IN, H, **settings)
    xs = drawn(T, N, IN)
    time_major = settings.get("time_major", False)
    given = to_tensor(xs if time_major else xs.swapaxes(0, 1))
    outputs, states = net(given, sequence_length=None if lengths is None else to_tensor(lengths))
    expected, finals = network(STEPS[kind], net, xs.astype("float64"), lengths)
    close(outputs, expected if time_major else expected.swapaxes(0, 1))
    stacked(states, finals)


def test_projected_lstm():
    net = nn.LSTM(IN, H, num_layers=2, direction="bidirect", proj_size=2)
    xs = drawn(T, N, IN)
    outputs, (h, c) = net(to_tensor(xs.swapaxes(0, 1)))
    expected, finals = network(lstm_step, net, xs.astype("float64"))
    close(outputs, expected.swapaxes(0, 1))
    stacked((h, c), finals)
    assert h.shape == [4, N, 2] and c.shape == [4, N, H]


def test_steps_beyond_the_length_keep_the_output_of_a_projected_lstm():
    net, xs = nn.LSTM(IN, H, proj_size=2), to_tensor(drawn(N, T, IN))
    outputs, (h, _) = net(xs, sequence_length=to_tensor([2, T]))
    _, (hidden, state) = net(xs[:, :2])
    after, _ = net[0].cell(xs[:, 3], (hidden[0], state[0]))
    close(outputs[0, 3], after.numpy()[0])
    close(h[0, 0], hidden.numpy()[0, 0])


def test_states_carry_a_sequence_on():
    net, xs = nn.LSTM(IN, H, num_layers=2), to_tensor(drawn(N, T, IN))
    whole, _ = net(xs)
    first, states = net(xs[:, :2])
    second, _ = net(xs[:, 2:], states)
    close(first, whole.numpy()[:, :2])
    close(second, whole.numpy()[:, 2:])


def test_dropout_between_layers_while_training():
    net, xs = nn.GRU(IN, 32, num_layers=2, dropout=0.5), to_tensor(drawn(N, T, IN))
    one, two = net(xs)[0].numpy(), net(xs)[0].numpy()
    assert (one != two).any()
    net.eval()
    assert (net(xs)[0].numpy() == net(xs)[0].numpy()).all()


class Sum(nn.RNNCellBase):
    """A user's cell: adds its input to its state, times a factor given to the network."""

    def forward(self, inputs, states, factor=1.0):
        states = states + inputs * factor
        return states, states

    @property
    def state_shape(self):
        return (IN,)


@pytest.mark.parametrize("backward", [False, True])
def test_users_cells(backward):
    xs = drawn(N, T, IN)
    outputs, state = nn.RNN(Sum(), is_reverse=backward)(to_tensor(xs), factor=2.0)
    sums = np.cumsum(xs[:, ::-1], axis=1)[:, ::-1] if backward else np.cumsum(xs, axis=1)
    close(outputs, 2 * sums)
    close(state, 2 * xs.sum(axis=1))


def test_steps_beyond_the_length_keep_the_state_and_the_output_of_rnn():
    xs = drawn(N, T, IN)
    outputs, state = nn.RNN(Sum())(to_tensor(xs), sequence_length=to_tensor([2, 5]))
    close(state, np.stack([xs[0, :2].sum(0), xs[1].sum(0)]))
    close(outputs[0, 4], xs[0, :2].sum(0) + xs[0, 4])


def test_hooks_of_a_cell_run_at_every_step():
    cell, calls = nn.SimpleRNNCell(IN, H), []
    xs = to_tensor(drawn(N, T, IN))
    plain, _ = nn.RNN(cell)(xs)
    cell.register_forward_post_hook(lambda layer, inputs, outputs: calls.append(1))
    hooked, _ = nn.RNN(cell)(xs)
    assert len(calls) == T
    close(hooked, plain.numpy())


# --- parameters and programs ---------------------------------------------------------------------------------------


def test_weights_are_named_by_layer_and_direction_and_shared_with_the_cells():
    net = nn.GRU(IN, H, num_layers=2, direction="bidirect")
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    own = [f"{kind}_l{layer}{way}" for layer in (0, 1) for way in ("", "_reverse") for kind in kinds]
    assert [name for name, _ in net.named_parameters()] == own
    assert net.weight_ih_l1_reverse is net[1].cell_bw.weight_ih
    state = net.state_dict()
    assert len(state) == 32 and state["bias_hh_l0"] is state["0.cell_fw.bias_hh"]


def test_gradients_reach_every_weight():
    net = nn.LSTM(IN, H, num_layers=2, direction="bidirect", proj_size=2)
    outputs, (_, c) = net(to_tensor(drawn(N, T, IN)))
    (outputs.sum() + c.sum()).backward()
    assert all(abs(p.grad.numpy()).max() > 0 for p in net.parameters())
    assert len(net.parameters()) == 20


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [T, None], ids=["known", "unknown"])
@pytest.mark.parametrize("lengths", [None, [2, 5]], ids=str)
def test_programs_give_the_same(kind, steps, lengths):
    net = getattr(nn, kind)(IN, H, num_layers=2, direction="bidirect")
    xs = to_tensor(drawn(N, T, IN), stop_gradient=False)
    specs = [InputSpec([None, steps, IN])]
    given = [xs]
    forward = net.forward
    if lengths is not None:
        specs.append(InputSpec([None], "int64"))
        given.append(to_tensor(lengths))

        def forward(x, lengths):
            return net(x, sequence_length=lengths)

    compiled = to_static(forward, input_spec=specs)
    eager_out, static_out = (f(*given)[0] for f in (forward, compiled))
    close(static_out, eager_out.numpy())
    grads = []
    for out in (eager_out, static_out):
        net.clear_gradients(False)
        xs.clear_gradient(False)
        (out * out).sum().backward()
        grads.append([xs.grad.numpy(), *(p.grad.numpy() for p in net.parameters())])
    for one, two in zip(*grads):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)


def test_text():
    assert repr(nn.LSTM(2, 3, num_layers=2, time_major=True, dropout=0.5)).splitlines()[0] == (
        "LSTM(2, 3, num_layers=2, time_major=True, dropout=0.5"
    )
    assert repr(nn.SimpleRNNCell(2, 3, activation="relu")) == "SimpleRNNCell(2, 3, activation=relu)"
    assert nn.SimpleRNN(2, 3, activation="relu").mode == "RNN_RELU" and nn.LSTM(2, 3).flatten_parameters() is None
