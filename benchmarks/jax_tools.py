"""What every workload does in JAX; the whole training step is one jitted function, as JAX's users write it."""

from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.data import Floats

Optimizer = tuple[Callable[[Any], Any], Callable[[Any, Any, Any], tuple[Any, Any]]]


def sgd(rate: float) -> Optimizer:
    """Return the start state and the update of gradient descent."""
    import jax

    def update(parameters: Any, gradients: Any, state: Any) -> tuple[Any, Any]:
        return jax.tree.map(lambda p, g: p - rate * g, parameters, gradients), state

    return lambda parameters: (), update


def momentum(rate: float, factor: float) -> Optimizer:
    """Return the start state and the update of gradient descent with momentum."""
    import jax
    import jax.numpy as jnp

    def update(parameters: Any, gradients: Any, state: Any) -> tuple[Any, Any]:
        state = jax.tree.map(lambda v, g: factor * v + g, state, gradients)
        return jax.tree.map(lambda p, v: p - rate * v, parameters, state), state

    return lambda parameters: jax.tree.map(jnp.zeros_like, parameters), update


def adam(rate: float, weight_decay: float = 0.0) -> Optimizer:
    """Return the start state and the update of Adam, or AdamW where weights decay."""
    import jax
    import jax.numpy as jnp

    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def start(parameters: Any) -> Any:
        zeros = jax.tree.map(jnp.zeros_like, parameters)
        return jnp.zeros((), jnp.float32), zeros, zeros

    def update(parameters: Any, gradients: Any, state: Any) -> tuple[Any, Any]:
        count, first, second = state
        count = count + 1
        first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, first, gradients)
        second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, second, gradients)
        scale1, scale2 = 1 - beta1**count, 1 - beta2**count

        def move(p: Any, m: Any, v: Any) -> Any:
            return p * (1 - rate * weight_decay) - rate * (m / scale1) / (jnp.sqrt(v / scale2) + epsilon)

        return jax.tree.map(move, parameters, first, second), (count, first, second)

    return start, update


def training(loss: Callable[..., Any], arrays: list[Floats], optimizer: Optimizer, *inputs: Any) -> Case:
    """Return the case of one training step of `loss(parameters, *inputs)`."""
    import jax
    import jax.numpy as jnp

    start, update = optimizer

    @jax.jit
    def advance(parameters: Any, state: Any, *inputs: Any) -> tuple[Any, Any, Any]:
        value, gradients = jax.value_and_grad(loss)(parameters, *inputs)
        return value, *update(parameters, gradients, state)

    parameters: Any = [jnp.asarray(array) for array in arrays]
    state = start(parameters)
    inputs = tuple(jnp.asarray(array) for array in inputs)

    def step() -> Any:
        nonlocal parameters, state
        value, parameters, state = advance(parameters, state, *inputs)
        return value

    return Case(step, float, lambda value: jax.block_until_ready((value, parameters)))


def inference(function: Callable[..., Any], arrays: list[Floats], *inputs: Any) -> Case:
    """Return the case of one evaluation of `function(parameters, *inputs)`; outputs are averaged for comparison."""
    import jax
    import jax.numpy as jnp

    call = jax.jit(function)
    parameters, given = [jnp.asarray(array) for array in arrays], [jnp.asarray(array) for array in inputs]
    return Case(lambda: call(parameters, *given), lambda result: float(abs(result).mean()), jax.block_until_ready)


def cross_entropy(logits: Any, labels: Any) -> Any:
    """Return the mean negative log-likelihood of the labels."""
    import jax
    import jax.numpy as jnp

    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def plain(function: Callable[..., Any], *inputs: Any, value: Callable[[Any], float] | None = None) -> Case:
    """Return the case of calling a jitted function; `value` of its results is compared, or their mean."""
    import jax
    import jax.numpy as jnp

    call = jax.jit(function)
    arrays = [jnp.asarray(array) for array in inputs]
    return Case(lambda: call(*arrays), value or (lambda result: float(result.mean())), jax.block_until_ready)
