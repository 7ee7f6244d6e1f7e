"""Learning-rate schedulers give Paddle's sequences, states and kinds of errors."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import vitrify as paddle
from vitrify.optimizer import lr

from .lr_cases import CASES, JUMP, PLATEAU, walk, watch

PADDLE = json.loads((Path(__file__).parent / "lr_paddle.json").read_text())


@pytest.mark.parametrize("name", CASES)
def test_sequence_is_paddles(name):
    assert walk(CASES[name](lr)) == pytest.approx(PADDLE["walk"][name], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", PADDLE["jump"])
def test_jump_to_an_epoch_is_paddles(name):
    scheduler = CASES[name](lr)
    scheduler.step(JUMP)
    assert scheduler.last_epoch == JUMP
    assert scheduler() == pytest.approx(PADDLE["jump"][name], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", PLATEAU)
def test_plateau_is_paddles(name):
    for (rate, state), (their_rate, their_state) in zip(watch(lr, PLATEAU[name]), PADDLE["plateau"][name]):
        assert rate == pytest.approx(their_rate)
        assert state == pytest.approx(their_state)


@pytest.mark.parametrize("name", [n for n in CASES if n != "one_cycle_end"])
def test_state_dict_resumes(name):
    first, second = CASES[name](lr), CASES[name](lr)
    walk(first, 7)
    second.set_state_dict(first.state_dict())
    assert second() == first()
    assert walk(second, 4) == walk(first, 4)


def test_plateau_state_dict_resumes_and_takes_tensors():
    first, second = lr.ReduceOnPlateau(1.0, patience=0), lr.ReduceOnPlateau(1.0, patience=0)
    first.step(paddle.to_tensor([2.0]))
    first.step(np.float32(3.0))
    second.set_state_dict(first.state_dict())
    assert second() == first() == 0.1
    assert second.get_lr() == 0.1
    assert second.best == 2.0


def test_multiplicative_can_jump_back():
    scheduler = lr.MultiplicativeDecay(1.0, lambda epoch: 0.5)
    scheduler.step(3)
    scheduler.step(1)
    assert scheduler() == 0.5


def test_restarts_take_fractions_of_an_epoch():
    scheduler = lr.CosineAnnealingWarmRestarts(1.0, 2)
    scheduler.step(2.5)
    assert (scheduler.T_cur, scheduler.T_i) == (0.5, 2)
    with pytest.raises(ValueError, match="negative"):
        scheduler.step(-1)


def test_verbose_prints_each_change(capsys):
    lr.StepDecay(0.5, 1, 0.5, verbose=True).step()
    assert capsys.readouterr().out == (
        "Epoch 0: StepDecay set learning rate to 0.5.\nEpoch 1: StepDecay set learning rate to 0.25.\n"
    )


def test_one_cycle_refuses_further_steps():
    scheduler = lr.OneCycleLR(1.0, 3)
    scheduler.step(3)
    with pytest.raises(ValueError, match="tried to step 4 times, but total_steps is 3"):
        scheduler.step()


def test_one_cycle_of_few_steps():
    assert walk(lr.OneCycleLR(1.0, 2, phase_pct=0.5), 2) == pytest.approx([1.0, 1e-4])


class Doubling(lr.LRScheduler):
    def get_lr(self):
        return self.base_lr * 2**self.last_epoch


def test_own_scheduler():
    assert walk(Doubling(0.5), 3) == [0.5, 1.0, 2.0]
    with pytest.raises(NotImplementedError, match="must define get_lr"):
        lr.LRScheduler(0.1)


def test_own_state_keys():
    class Short(Doubling):
        def state_keys(self):
            self.keys = ["last_epoch"]

    assert Short(0.5).state_dict() == {"last_epoch": 0}


def test_own_scheduler_may_compute_tensors():
    class FromTensor(lr.LRScheduler):
        def get_lr(self):
            return paddle.to_tensor(0.25)

    assert FromTensor(0.5).state_dict() == {"last_epoch": 0, "last_lr": 0.25}


def test_state_dict_must_fit():
    scheduler = lr.StepDecay(0.5, 2)
    with pytest.raises(RuntimeError, match="cannot find 'last_lr'"):
        scheduler.set_state_dict({"last_epoch": 1})
    with pytest.warns(UserWarning, match=r"unused values \['best'\]"):
        scheduler.set_dict({"last_epoch": 1, "last_lr": 0.5, "best": 3})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lr.LinearWarmup(0.5, 3, 0.0, 0.5).set_dict({"last_epoch": 1, "last_lr": 0.5, "LinearWarmup_LR": {}})


BAD = {
    "rate_type": (TypeError, lambda: lr.StepDecay("a", 2)),
    "rate_bool": (TypeError, lambda: lr.StepDecay(True, 2)),
    "rate_negative": (ValueError, lambda: lr.StepDecay(-0.1, 2)),
    "step_size_float": (TypeError, lambda: lr.StepDecay(0.1, 2.5)),
    "step_size_negative": (ValueError, lambda: lr.StepDecay(0.1, -1)),
    "step_gamma": (ValueError, lambda: lr.StepDecay(0.1, 2, 1.5)),
    "milestones_order": (ValueError, lambda: lr.MultiStepDecay(0.1, [2, 2])),
    "milestones_type": (TypeError, lambda: lr.MultiStepDecay(0.1, 3)),
    "milestones_gamma": (ValueError, lambda: lr.MultiStepDecay(0.1, [1], 1.0)),
    "polynomial_steps": (ValueError, lambda: lr.PolynomialDecay(0.1, 0)),
    "polynomial_power": (ValueError, lambda: lr.PolynomialDecay(0.1, 3, power=0.0)),
    "natural_gamma": (ValueError, lambda: lr.NaturalExpDecay(0.1, 0.0)),
    "exponential_gamma": (ValueError, lambda: lr.ExponentialDecay(0.1, 0.0)),
    "noam_model": (ValueError, lambda: lr.NoamDecay(0, 1)),
    "noam_model_kind": (TypeError, lambda: lr.NoamDecay("64", 1)),
    "warmup_rate": (TypeError, lambda: lr.LinearWarmup("a", 1, 0.0, 1.0)),
    "warmup_steps": (ValueError, lambda: lr.LinearWarmup(0.1, -1, 0.0, 1.0)),
    "warmup_order": (ValueError, lambda: lr.LinearWarmup(0.1, 2, 1.0, 0.5)),
    "piecewise_empty": (ValueError, lambda: lr.PiecewiseDecay([], [0.1])),
    "piecewise_short": (ValueError, lambda: lr.PiecewiseDecay([1], [0.1])),
    "cosine_zero": (ValueError, lambda: lr.CosineAnnealingDecay(0.1, 0)),
    "cosine_float": (TypeError, lambda: lr.CosineAnnealingDecay(0.1, 0.5)),
    "cosine_eta": (TypeError, lambda: lr.CosineAnnealingDecay(0.1, 2, "a")),
    "lambda_type": (TypeError, lambda: lr.LambdaDecay(0.1, 3)),
    "multiplicative_type": (TypeError, lambda: lr.MultiplicativeDecay(0.1, 3)),
    "one_cycle_rate_type": (TypeError, lambda: lr.OneCycleLR("a", 7)),
    "one_cycle_rate": (ValueError, lambda: lr.OneCycleLR(-1.0, 7)),
    "one_cycle_steps": (ValueError, lambda: lr.OneCycleLR(1.0, 0)),
    "one_cycle_pct": (ValueError, lambda: lr.OneCycleLR(1.0, 7, phase_pct=2.0)),
    "one_cycle_anneal": (ValueError, lambda: lr.OneCycleLR(1.0, 7, anneal_strategy="x")),
    "one_cycle_three": (ValueError, lambda: lr.OneCycleLR(1.0, 7, three_phase=True, phase_pct=0.6)),
    "cyclic_size": (ValueError, lambda: lr.CyclicLR(0.1, 1.0, -1)),
    "cyclic_mode": (ValueError, lambda: lr.CyclicLR(0.1, 1.0, 2, mode="x")),
    "cyclic_scale_mode": (ValueError, lambda: lr.CyclicLR(0.1, 1.0, 2, scale_mode="x")),
    "linear_steps": (ValueError, lambda: lr.LinearLR(0.1, 0)),
    "linear_start": (ValueError, lambda: lr.LinearLR(0.1, 3, start_factor=2.0)),
    "linear_end": (ValueError, lambda: lr.LinearLR(0.1, 3, end_factor=2.0)),
    "restarts_length": (ValueError, lambda: lr.CosineAnnealingWarmRestarts(0.1, 0)),
    "restarts_mult": (ValueError, lambda: lr.CosineAnnealingWarmRestarts(0.1, 1, 0)),
    "plateau_mode": (ValueError, lambda: lr.ReduceOnPlateau(0.1, mode="x")),
    "plateau_factor": (ValueError, lambda: lr.ReduceOnPlateau(0.1, factor=2.0)),
    "plateau_threshold": (ValueError, lambda: lr.ReduceOnPlateau(0.1, threshold_mode="x")),
    "plateau_rate": (TypeError, lambda: lr.ReduceOnPlateau("a")),
    "plateau_metric": (TypeError, lambda: lr.ReduceOnPlateau(0.1).step("a")),
    "plateau_metrics": (ValueError, lambda: lr.ReduceOnPlateau(0.1).step(np.ones(2))),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name):
    kind, make = BAD[name]
    with pytest.raises(kind) as caught:
        make()
    assert type(caught.value).__module__.startswith("vitrify")
