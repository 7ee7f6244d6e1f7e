"""One compiled function inside an eager model: to the tape it is a single step, and it trains like the rest."""

import vitrify as paddle
from vitrify import nn


class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(8, 8)

    @paddle.jit.to_static
    def settle(self, x):
        state = paddle.zeros_like(x)
        for _ in range(10):
            state = paddle.tanh(self.cell(state) + x)
        return state

    def forward(self, x):
        return self.settle(x * 0.5).sum()  # eager, compiled, eager


paddle.seed(0)
model = Recurrent()
x = paddle.randn([4, 8])
compiled = model(x)
compiled.backward()
gradient = model.cell.weight.grad.clone()  # what `.grad` gives is cleared with it

model.clear_gradients()
model.settle = model.settle.rollback()  # the plain Python method again
eager = model(x)
eager.backward()

print(compiled.item(), eager.item())
assert abs(compiled.item() - eager.item()) < 1e-5
assert (gradient - model.cell.weight.grad).abs().max().item() < 1e-5
