"""Tensors compute at once and remember how, so that gradients follow."""

import vitrify as paddle

x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
y = (x * x).sum() + x[0].max()
y.backward()

print(y.item())
print(x.grad)
assert y.item() == 32.0
assert x.grad.tolist() == [[2.0, 5.0], [6.0, 8.0]]
