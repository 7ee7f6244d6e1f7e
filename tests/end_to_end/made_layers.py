"""Layers and parameters made inside of the function: each run draws their first values, as eager code does."""

import vitrify as paddle
from vitrify import nn
from vitrify.nn import functional as F

X, N = [[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]], [[-1.0, -2.0, -3.0], [0.5, 0.0, 1.0]]


def linear(x):
    paddle.seed(1)
    return nn.Linear(3, 2)(x)


def in_a_branch(x):
    paddle.seed(2)
    if x.sum() > 0:
        x = nn.Linear(3, 3)(x)
    return x + paddle.rand([3])


def in_loops(x):
    paddle.seed(3)
    n = 0
    while n < 3 and x.sum() > -100:
        x = nn.Linear(3, 3)(x)
        n += 1
    return x


class Net(nn.Layer):
    """Parameters, sublayers and a buffer; a tensor decides."""

    def __init__(self, size):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(size, size) for _ in range(2)])
        self.scale = self.create_parameter([size], default_initializer=nn.initializer.Constant(2.0))
        self.register_buffer("shift", paddle.ones([size]))
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        for layer in self.layers:
            x = paddle.tanh(layer(x))
            if x.sum() > 0:
                x = x * self.scale
        return self.drop(x) + self.shift


def of_the_users_class(x):
    paddle.seed(4)
    return Net(3)(x)


def norms_and_cells(x):
    paddle.seed(5)
    found, _ = nn.GRU(3, 4)(x.unsqueeze(0))
    norm = nn.BatchNorm1D(3)
    return found, norm(x), norm._mean


def changed_and_asked(x):
    paddle.seed(6)
    layer = nn.Linear(3, 2)
    layer.weight.set_value(paddle.ones([3, 2]))
    nn.initializer.Normal(0, 1)(layer.bias)
    layer.eval()
    w = layer.weight
    asked = isinstance(w, nn.Parameter), w.stop_gradient, w.is_leaf, w.trainable
    return layer(x), asked, {name: p * 1 for name, p in layer.state_dict().items()}


def trained(x):
    paddle.seed(7)
    x = x.detach()
    layer = nn.Linear(3, 1)
    for _ in range(3):
        loss = (layer(x) ** 2).mean()
        loss.backward()
        with paddle.no_grad():
            for p in layer.parameters():
                p.subtract_(0.1 * p.grad)
                p.clear_grad()
    return loss.detach(), layer.weight.detach() * 1


def initializers(x):
    paddle.seed(8)
    made = nn.initializer.Assign([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    every = [made, nn.initializer.KaimingNormal(), nn.initializer.Orthogonal(), nn.initializer.XavierNormal()]
    return [nn.Linear(3, 2, weight_attr=each, bias_attr=False)(x) for each in every]


def second_order(x):
    paddle.seed(9)
    (g,) = paddle.grad(paddle.tanh(nn.Linear(3, 1)(x)).sum(), x, create_graph=True)
    return g * x


def seeds(x):
    a = paddle.rand([3])
    paddle.seed(4)
    b = F.dropout(x, 0.5)
    if x.sum() > 0:
        paddle.seed(seed=int(x.sum()))
    for i in range(2):
        paddle.seed(i)
        x = x + paddle.rand([3])
    return b, x, paddle.randn([3]), a * 0


def seeds_of_a_loop(x):
    n = 0
    while x.sum() < 20:
        n += 1
        paddle.seed(n)
        x = x + paddle.rand([3]) + 1
        print("drawn", paddle.rand([1]))
    return x, n


CASES = [(f, ((X,), (N,))) for f in (
    linear, in_a_branch, in_loops, of_the_users_class, norms_and_cells, changed_and_asked, trained, initializers,
    second_order, seeds, seeds_of_a_loop,
)]  # fmt: skip
