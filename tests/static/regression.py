"""A model by hand that several tests train: least squares by gradient descent."""

import numpy as np

import vitrify as paddle
from vitrify import static


def regression():
    """Least squares by gradient descent; returns main, startup, a program for testing, loss and prediction."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [None, 3]), static.data("y", [None, 1])
        w = static.create_parameter([3, 1], "float32", name="w")
        predicted = paddle.matmul(x, w)
        test = main.clone(for_test=True)
        loss = ((predicted - y) ** 2).mean()
        for p, g in static.append_backward(loss):
            paddle.assign(p - g * 0.1, p)
    return main, startup, test, loss, predicted


def batch(seed, n=16):
    x = np.random.default_rng(seed).normal(size=(n, 3)).astype("float32")
    return {"x": x, "y": x @ np.array([[1.0], [-2.0], [0.5]], "float32")}
