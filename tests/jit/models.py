"""Small Layers and functions that several files here use."""

import vitrify as paddle


class Scale(paddle.nn.Layer):
    """x * w + b, or its negative where the sum is not positive."""

    def __init__(self, size=3):
        super().__init__()
        self.w = self.create_parameter([size])
        self.b = self.create_parameter([size], is_bias=True)

    def forward(self, x):
        y = x * self.w + self.b
        if y.sum() > 0:
            return y
        return -y


class Average(paddle.nn.Layer):
    """A running average, kept in a buffer while training."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", paddle.zeros([3]))

    def forward(self, x):
        if self.training:
            with paddle.no_grad():
                self.mean.set_value(self.mean * 0.5 + x * 0.5)
        return x - self.mean


class Stack(paddle.nn.Layer):
    """Both, one after the other."""

    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.average = Average()

    def forward(self, x):
        return self.average(self.scale(x))


def tensor(*values, grad=False, dtype="float32"):
    return paddle.to_tensor(list(values), dtype=dtype, stop_gradient=not grad)


def counted(function):
    """`function` as a static function, and a list that grows with every run of its Python.

    What is not converted runs while tracing only; an `append` in `traced` itself would be done by the program, too.
    """
    runs = []

    @paddle.jit.not_to_static
    def note():
        runs.append(1)

    def traced(*args, **kwargs):
        note()
        return function(*args, **kwargs)

    return paddle.jit.to_static(traced), runs
