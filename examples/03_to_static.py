"""to_static turns Python into a program: `while`, `if`, `break` on tensors keep their meaning, gradients included."""

import vitrify as paddle


def root(x, tolerance=1e-6):
    """The square root of x by Newton's method; how many rounds it takes depends on x."""
    guess = x
    while True:
        better = (guess + x / guess) / 2
        if (better - guess).abs().max() < tolerance:
            break
        guess = better
    return better


compiled = paddle.jit.to_static(root)
x = paddle.to_tensor([2.0, 9.0, 1e4], stop_gradient=False)
found = compiled(x)
found.sum().backward()

print(found.tolist(), x.grad.tolist())
print(compiled.code)
assert found.tolist() == root(x).tolist()
assert all(abs(g - 0.5 / f) < 1e-4 for g, f in zip(x.grad.tolist(), found.tolist()))
