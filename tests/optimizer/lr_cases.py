"""Schedulers whose sequences are compared with PaddlePaddle 3.3.1's, recorded in lr_paddle.json.

Record again with a Python that has PaddlePaddle: `python tests/optimizer/lr_cases.py > tests/optimizer/lr_paddle.json`.
"""

import importlib
import json

STEPS = 12
JUMP = 5

CASES = {
    "noam": lambda lr: lr.NoamDecay(64, 4),
    "noam_scaled": lambda lr: lr.NoamDecay(16, 3, 0.5),
    "exponential": lambda lr: lr.ExponentialDecay(0.5, 0.9),
    "natural_exp": lambda lr: lr.NaturalExpDecay(0.5, 0.1),
    "inverse_time": lambda lr: lr.InverseTimeDecay(0.5, 0.1),
    "polynomial": lambda lr: lr.PolynomialDecay(0.5, 4),
    "polynomial_cycle": lambda lr: lr.PolynomialDecay(0.5, 3, power=2.0, cycle=True),
    "warmup": lambda lr: lr.LinearWarmup(0.5, 3, 0.0, 0.5),
    "warmup_int": lambda lr: lr.LinearWarmup(1, 3, 0.1, 0.5),
    "warmup_then_steps": lambda lr: lr.LinearWarmup(lr.StepDecay(0.5, 2), 3, 0.0, 0.5),
    "warmup_then_cosine": lambda lr: lr.LinearWarmup(lr.CosineAnnealingDecay(0.5, 6), 3, 0.0, 0.5),
    "piecewise": lambda lr: lr.PiecewiseDecay([2, 4], [0.1, 0.2, 0.3]),
    "cosine": lambda lr: lr.CosineAnnealingDecay(0.5, 5),
    "cosine_floor": lambda lr: lr.CosineAnnealingDecay(0.5, 3, 0.1),
    "milestones": lambda lr: lr.MultiStepDecay(0.5, [2, 4, 7], 0.3),
    "steps": lambda lr: lr.StepDecay(0.5, 2),
    "steps_resumed": lambda lr: lr.StepDecay(0.5, 2, last_epoch=3),
    "lambda": lambda lr: lr.LambdaDecay(0.5, lambda epoch: 0.9**epoch),
    "multiplicative": lambda lr: lr.MultiplicativeDecay(0.5, lambda epoch: 1 - 0.01 * epoch),
    "multiplicative_resumed": lambda lr: lr.MultiplicativeDecay(0.5, lambda epoch: 0.9, last_epoch=3),
    "one_cycle": lambda lr: lr.OneCycleLR(1.0, 20),
    "one_cycle_end": lambda lr: lr.OneCycleLR(1.0, 12),
    "one_cycle_three": lambda lr: lr.OneCycleLR(1.0, 13, three_phase=True),
    "one_cycle_linear": lambda lr: lr.OneCycleLR(1.0, 13, 10.0, 0.01, 0.4, "linear", True),
    "cyclic": lambda lr: lr.CyclicLR(0.1, 1.0, 2),
    "cyclic_halving": lambda lr: lr.CyclicLR(0.1, 1.0, 2, 3, mode="triangular2"),
    "cyclic_exp": lambda lr: lr.CyclicLR(0.1, 1.0, 2, 3, mode="exp_range", exp_gamma=0.9),
    "cyclic_fn": lambda lr: lr.CyclicLR(0.1, 1.0, 2, scale_fn=lambda x: 0.5**x),
    "cyclic_fn_steps": lambda lr: lr.CyclicLR(0.1, 1.0, 2, scale_fn=lambda x: 0.9**x, scale_mode="iterations"),
    "linear": lambda lr: lr.LinearLR(0.5, 4),
    "linear_down": lambda lr: lr.LinearLR(0.5, 4, 0.9, 0.1),
    "linear_to_nothing": lambda lr: lr.LinearLR(0.5, 7, 1.0, 0.0),
    "linear_resumed": lambda lr: lr.LinearLR(0.5, 8, 0.2, 0.8, last_epoch=2),
    "restarts": lambda lr: lr.CosineAnnealingWarmRestarts(0.5, 3, 1, 0.1),
    "restarts_longer": lambda lr: lr.CosineAnnealingWarmRestarts(0.5, 2, 2),
}
PLATEAU = {
    "default": {"patience": 1, "cooldown": 1, "factor": 0.5},
    "max": {"mode": "max"},
    "max_abs": {"mode": "max", "threshold_mode": "abs", "threshold": 0.2},
    "min_abs": {"threshold_mode": "abs", "threshold": 0.2},
    "loose": {"threshold": 0.3},
    "floor": {"min_lr": 0.3},
    "epsilon": {"epsilon": 0.3},
}
METRICS = [1, 1.1, 1.2, 1.5, 1.4, 1.3, 1.0, 0.9, 0.6, 0.5, 0.45, 0.42]


def walk(scheduler, steps=STEPS):
    """The rates of `steps` epochs."""
    rates = []
    for _ in range(steps):
        rates.append(float(scheduler()))
        scheduler.step()
    return rates


def watch(lr, options):
    """Rate and state after each of METRICS."""
    scheduler = lr.ReduceOnPlateau(1.0, **{"patience": 1, "factor": 0.5, **options})
    seen = []
    for metric in METRICS:
        scheduler.step(metric)
        seen.append([scheduler(), scheduler.state_dict()])
    return seen


def _jumped(scheduler):
    scheduler.step(JUMP)
    return float(scheduler())


def record(lr):
    """What lr_paddle.json holds."""
    walks = {name: walk(make(lr)) for name, make in CASES.items()}
    jumps = {name: _jumped(make(lr)) for name, make in CASES.items()}
    return {"walk": walks, "jump": jumps, "plateau": {k: watch(lr, v) for k, v in PLATEAU.items()}}


if __name__ == "__main__":
    print(json.dumps(record(importlib.import_module("paddle").optimizer.lr), indent=1))
