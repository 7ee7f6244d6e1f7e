"""Layers hold parameters, an optimizer changes them: a line through noisy points."""

import vitrify as paddle
from vitrify import nn

paddle.seed(0)
x = paddle.rand([256, 1])
y = 3.0 * x - 1.0 + 0.01 * paddle.randn([256, 1])

line = nn.Linear(1, 1)
schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=300)
optimizer = paddle.optimizer.Adam(schedule, parameters=line.parameters())
for _ in range(300):
    loss = ((line(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    schedule.step()

print(f"{line.weight.item():.2f} x {line.bias.item():+.2f}, loss {loss.item():.1e}")
assert abs(line.weight.item() - 3.0) < 0.02
assert abs(line.bias.item() + 1.0) < 0.02
