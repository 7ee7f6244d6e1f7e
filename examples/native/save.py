"""Compile a classifier ahead of time: build/digits.so and build/digits.h."""

import numpy as np

import vitrify as paddle

paddle.seed(0)
net = paddle.nn.Sequential(
    paddle.nn.Conv2D(1, 8, 3, padding=1),
    paddle.nn.ReLU(),
    paddle.nn.MaxPool2D(2, 2),
    paddle.nn.Flatten(),
    paddle.nn.Linear(8 * 4 * 4, 10),
    paddle.nn.Softmax(),
)
spec = paddle.static.InputSpec([None, 1, 8, 8], "float32", name="image")
paddle.jit.save(net, "build/digits", input_spec=[spec], format="native")

# What the programs in C and ctypes compute for images of 0, 1/64, 2/64, ...
image = (np.arange(2 * 64, dtype="float32") / 64).reshape(2, 1, 8, 8)
for row in net(paddle.to_tensor(image)).numpy():
    print(" ".join(f"{p:.4f}" for p in row))
