"""Optimizers whose parameters are compared with PaddlePaddle 3.3.1's after some steps (updates_paddle.json).

Record again with a Python that has PaddlePaddle:
`python tests/optimizer/update_cases.py > tests/optimizer/updates_paddle.json`.
"""

import importlib
import json

import numpy as np

STEPS = 7
SHAPES = {"w": (3, 2), "b": (4,)}

# name -> function of (paddle, list of parameters)
CASES = {
    "sgd": lambda p, ps: p.optimizer.SGD(0.1, ps),
    "sgd_l2": lambda p, ps: p.optimizer.SGD(0.1, ps, weight_decay=0.2),
    "sgd_l1": lambda p, ps: p.optimizer.SGD(0.1, ps, weight_decay=p.regularizer.L1Decay(0.2)),
    "sgd_schedule": lambda p, ps: p.optimizer.SGD(p.optimizer.lr.StepDecay(0.1, 2), ps),
    "sgd_clip_value": lambda p, ps: p.optimizer.SGD(0.1, ps, grad_clip=p.nn.ClipGradByValue(0.3, -0.1)),
    "sgd_clip_norm": lambda p, ps: p.optimizer.SGD(0.1, ps, grad_clip=p.nn.ClipGradByNorm(0.5), weight_decay=0.5),
    "sgd_clip_global": lambda p, ps: p.optimizer.SGD(0.1, ps, grad_clip=p.nn.ClipGradByGlobalNorm(0.5)),
    "sgd_groups": lambda p, ps: p.optimizer.SGD(
        0.1,
        [
            {"params": ps[:1]},
            {"params": ps[1:], "learning_rate": 0.1, "weight_decay": 0.5, "grad_clip": p.nn.ClipGradByValue(0.01)},
        ],
        weight_decay=0.1,
    ),
    "momentum": lambda p, ps: p.optimizer.Momentum(0.1, 0.8, ps, weight_decay=p.regularizer.L2Decay(0.1)),
    "nesterov": lambda p, ps: p.optimizer.Momentum(0.1, 0.8, ps, use_nesterov=True),
    "adam": lambda p, ps: p.optimizer.Adam(0.1, parameters=ps),
    "adam_epsilon": lambda p, ps: p.optimizer.Adam(0.1, 0.8, 0.9, 0.1, parameters=ps, weight_decay=0.1),
    "adam_amsgrad": lambda p, ps: p.optimizer.Adam(0.1, 0.5, 0.5, parameters=ps, amsgrad=True),
    "adam_groups": lambda p, ps: p.optimizer.Adam(
        0.1, parameters=[{"params": ps[:1], "beta1": 0.5, "epsilon": 0.01}, {"params": ps[1:], "learning_rate": 3.0}]
    ),
    "adamw": lambda p, ps: p.optimizer.AdamW(0.1, parameters=ps, weight_decay=0.3),
    "adamw_chosen": lambda p, ps: p.optimizer.AdamW(
        0.1,
        parameters=ps,
        weight_decay=0.3,
        apply_decay_param_fun=lambda name: "w" in name,
    ),
    "adamw_groups": lambda p, ps: p.optimizer.AdamW(
        0.1, parameters=[{"params": ps[:1], "weight_decay": 0.0}, {"params": ps[1:], "learning_rate": 0.3}]
    ),
    "adagrad": lambda p, ps: p.optimizer.Adagrad(0.1, 0.01, ps, initial_accumulator_value=0.5),
    "rmsprop": lambda p, ps: p.optimizer.RMSProp(0.1, 0.9, 0.01, 0.5, parameters=ps),
    "rmsprop_centered": lambda p, ps: p.optimizer.RMSProp(0.1, 0.9, 0.01, 0.5, True, parameters=ps),
    "adadelta": lambda p, ps: p.optimizer.Adadelta(1.0, 0.01, 0.8, ps),
    "adamax": lambda p, ps: p.optimizer.Adamax(0.1, 0.8, 0.9, 0.01, ps),
    "nadam": lambda p, ps: p.optimizer.NAdam(0.1, 0.8, 0.9, 0.01, 0.1, ps, weight_decay=0.1),
    "radam": lambda p, ps: p.optimizer.RAdam(0.1, 0.8, 0.9, 0.01, ps),
    "radam_short": lambda p, ps: p.optimizer.RAdam(0.1, 0.8, 0.5, 0.01, ps),
    "asgd": lambda p, ps: p.optimizer.ASGD(0.1, 3, ps),
    "asgd_decay": lambda p, ps: p.optimizer.ASGD(0.1, 2, ps, weight_decay=0.1, grad_clip=p.nn.ClipGradByNorm(0.5)),
    "rprop": lambda p, ps: p.optimizer.Rprop(0.1, (0.06, 0.13), ps),
    "lamb": lambda p, ps: p.optimizer.Lamb(0.1, 0.1, parameters=ps),
    "lamb_excluded": lambda p, ps: p.optimizer.Lamb(
        0.1, 0.1, parameters=ps, exclude_from_weight_decay_fn=lambda x: "b" in x.name
    ),
    "lamb_always": lambda p, ps: p.optimizer.Lamb(
        0.1, 0.1, parameters=ps, exclude_from_weight_decay_fn=lambda x: "b" in x.name, always_adapt=True
    ),
}


def _numbers(seed, shape):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def parameters(paddle):
    """Parameters named "w" and "b"."""
    found = []
    for seed, (name, shape) in enumerate(SHAPES.items()):
        made = paddle.create_parameter(list(shape), "float32")
        made.set_value(paddle.to_tensor(_numbers(seed, shape)))
        made.name = name
        found.append(made)
    return found


def train(paddle, params, optimizer, steps=STEPS, start=0):
    """The parameters after `steps` steps with fixed gradients."""
    for step in range(start, start + steps):
        loss = sum((p * paddle.to_tensor(_numbers(10 * step + i, p.shape))).sum() for i, p in enumerate(params))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        if hasattr(optimizer._learning_rate, "step"):
            optimizer._learning_rate.step()
    return [p.numpy().tolist() for p in params]


def state(optimizer):
    """The state dict as lists."""
    return {k: np.asarray(v).tolist() for k, v in optimizer.state_dict().items() if k != "LR_Scheduler"}


def record(paddle):
    """What updates_paddle.json holds."""
    found = {}
    for name, make in CASES.items():
        params = parameters(paddle)
        optimizer = make(paddle, params)
        found[name] = {"params": train(paddle, params, optimizer), "state": state(optimizer)}
    return found


if __name__ == "__main__":
    print(json.dumps(record(importlib.import_module("paddle")), indent=1))
