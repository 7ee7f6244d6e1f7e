"""Training in static mode whose losses are compared with PaddlePaddle 3.3.1's (training_paddle.json).

Record again with a Python that has PaddlePaddle:
`python tests/static/training_cases.py > tests/static/training_paddle.json`.
"""

import importlib
import json
import sys

import numpy as np

STEPS = 5

# name -> function of paddle: the optimizer, and its scheduler or None
CASES = {
    "sgd": lambda p: (p.optimizer.SGD(0.05), None),
    "adam_schedule": lambda p: with_schedule(p.optimizer.Adam, p.optimizer.lr.StepDecay(0.05, 2)),
    "momentum_decay_clip": lambda p: (
        p.optimizer.Momentum(0.05, weight_decay=0.01, grad_clip=p.nn.ClipGradByGlobalNorm(0.5)),
        None,
    ),
    "adamw": lambda p: (p.optimizer.AdamW(0.05), None),
    "lamb": lambda p: (p.optimizer.Lamb(0.05), None),
    "rmsprop": lambda p: (p.optimizer.RMSProp(0.05), None),
    "adagrad": lambda p: (p.optimizer.Adagrad(0.05), None),
}


def with_schedule(make, schedule):
    return make(schedule), schedule


def losses(paddle, name):
    """The losses of five steps from fixed parameters."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        x, y = paddle.static.data("x", [None, 4]), paddle.static.data("y", [None, 1])
        net = paddle.nn.Sequential(
            paddle.nn.Linear(4, 8), paddle.nn.Tanh(), paddle.nn.BatchNorm1D(8), paddle.nn.Linear(8, 1)
        )
        loss = paddle.nn.functional.square_error_cost(net(x), y).mean()
        optimizer, schedule = CASES[name](paddle)
        optimizer.minimize(loss)
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(startup)
    rng = np.random.default_rng(1)
    for parameter in [p for p in net.parameters() if not p.stop_gradient]:
        value = (rng.normal(size=parameter.shape) / 2).astype("float32")
        paddle.static.global_scope().find_var(parameter.name).get_tensor().set(value, paddle.CPUPlace())
    found = []
    for _ in range(STEPS):
        rows = rng.normal(size=(6, 4)).astype("float32")
        found.append(float(exe.run(main, feed={"x": rows, "y": rows[:, :1] * 2}, fetch_list=[loss])[0]))
        if schedule is not None:
            schedule.step()
    return found


if __name__ == "__main__":
    module = importlib.import_module("paddle")
    module.enable_static()
    json.dump({name: losses(module, name) for name in CASES}, sys.stdout, indent=1)
