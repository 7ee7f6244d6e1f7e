"""Optimizer: what all optimizers share — groups, learning rate, clipping, the step loop, state dicts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.errors import ArgumentError, DTypeError, UnsupportedError
from ..core.inspector import show
from ..core.modes import recorder
from ..core.outside import outside_programs
from ..core.setting import WATCH
from ..core.timeline import TracerEventType, span
from ..eager.gradients import held_grad, stops_gradient, training_of_trace
from ..eager.tensor import Tensor, wrap
from ..ir.graph_tensor import is_number
from ..ops.registry import get_op
from .in_program import ProgramState, apply_in_program, backward_in_program, check_loss, load_state, set_rate
from .in_trace import rate_in_trace, set_rate_in_trace, step_in_trace
from .lr.base import LRScheduler, StateMismatchError
from .slots import HALF, Group, ParameterSettings, Slot, check_parameters, decay_coefficients, group_params
from .update import MAX_GATHERED, UpdateRule, Workspace, memory_of, together

_COUNT = re.compile(r"_\d+$")
PairList = list[tuple[Any, Any]]
Due = tuple[Slot, Any, Any]  # the array to update, its gradient


class Optimizer:
    """Base of the optimizers: changes parameters in place by their gradients.

    learning_rate: a float or an LRScheduler. parameters: Tensors, or dicts with "params" and settings of their own
    ("learning_rate" is a factor, "weight_decay", "grad_clip", and the optimizer's numbers).
    weight_decay: a number (L2), L1Decay, L2Decay or None; a parameter's own regularizer takes precedence, but not in a
    dict, whose weight decay, or else the optimizer's, is that of all its parameters.
    grad_clip: applied to the gradients before weight decay.
    Raises DTypeError and ArgumentError for other arguments. Source: paddle.optimizer.Optimizer.

    Subclasses set `_rule` and define `_rule_attrs` and, if their state does not start at 0, `initial_state`;
    `state_shape` if it is not shaped like the parameter.

    Example:
        >>> import vitrify as paddle
        >>> layer = paddle.nn.Linear(2, 1)
        >>> optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> isinstance(optimizer, paddle.optimizer.Optimizer)
        True
        >>> layer(paddle.ones([4, 2])).mean().backward()
        >>> before = layer.bias.item()
        >>> optimizer.step()
        >>> optimizer.clear_grad()
        >>> round(before - layer.bias.item(), 4)
        0.1
    """

    _rule: UpdateRule | None = None
    _multi_precision = False
    master_grad = False
    _decoupled_decay = False  # whether `weight_decay` acts beside the gradient, and regularizers on it

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        self._owner = type(self).__name__
        self._name = name
        self._learning_rate = _check_rate(self._owner, learning_rate)
        self._grad_clip = _check_clip(self._owner, grad_clip)
        self._weight_decay = decay_coefficients(self._owner, weight_decay)
        self._parameter_list = check_parameters(self._owner, parameters)
        self._slots: dict[int, Slot] = {}
        self._loaded: dict[str, Any] = {}
        self._work: dict[Any, Workspace] = {}
        self._scratch: dict[Any, Any] = {}  # of updates of several parameters
        self._groups = self._make_groups(self._parameter_list)
        self.program_state = ProgramState()

    # -- groups -------------------------------------------------------------------------------------------------------

    def _make_groups(self, parameters: Sequence[Any]) -> list[Group]:
        if not parameters or not isinstance(parameters[0], Mapping):
            return [self._make_group({"params": parameters}, list(parameters), None)]
        seen: set[int] = set()
        return [
            self._make_group(
                options, group_params(self._owner, options, seen), float(options.get("learning_rate", 1.0))
            )
            for options in parameters
        ]

    def _make_group(self, options: Mapping[str, Any], params: list[Any], lr: float | None) -> Group:
        clip = _check_clip(self._owner, options.get("grad_clip")) or self._grad_clip
        own_decay = lr is None or self._decoupled_decay
        return Group(params, options, lr, self._group_decay(options), clip, self._rule_attrs(options), own_decay)

    def _group_decay(self, options: Mapping[str, Any]) -> tuple[float, float]:
        """The L1 and L2 coefficients of a group."""
        if options.get("weight_decay") is None:
            return self._weight_decay
        return decay_coefficients(self._owner, options["weight_decay"])

    def _rule_attrs(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The rule's attributes for a group, which may set its own."""
        return {}

    # -- state --------------------------------------------------------------------------------------------------------

    def initial_state(self, name: str, attrs: Mapping[str, Any]) -> float:
        """What the state `name` starts from."""
        return 0.0

    def state_shape(self, name: str, shape: tuple[int, ...], attrs: Mapping[str, Any]) -> tuple[int, ...]:
        """The shape of the state array `name` of a parameter of this shape."""
        return shape

    def _slot(self, param: Any, group: Group) -> Slot:
        """The slot of `param`, made with its state at its first step."""
        slot = self._slots.get(id(param))
        if slot is None:
            slot = self._slots[id(param)] = Slot(param, group, self._multi_precision, self._name)
            self.settle(slot)
            self._set_up(slot)
        return slot

    def settle(self, slot: ParameterSettings) -> None:
        """Change what the group says, where the optimizer treats this parameter in its own way."""

    def _set_up(self, slot: Slot) -> None:
        """Give a new slot its state: loaded if there is some, else the initial values."""
        rule = self._require_rule()
        start = {name: self.initial_state(name, slot.attrs) for name in (*rule.arrays, *rule.counters)}
        shape = slot.param._data.shape
        slot.arrays = [slot.full(self.state_shape(name, shape, slot.attrs), start[name]) for name in rule.arrays]
        slot.counters = [np.full(1, start[name], slot.dtype) for name in rule.counters]
        if self._loaded:
            self._load_slot(slot, self._loaded)

    def _require_rule(self) -> UpdateRule:
        if self._rule is None:
            raise NotImplementedError(
                f"{self._owner} cannot be used as an optimizer itself: use a subclass such as Adam"
            )
        return self._rule

    def use_master_weights(self, keep: bool, float32_gradients: bool = False) -> None:
        """Whether 16-bit parameters keep a float32 copy, and whether their gradients are cast before clipping."""
        self._multi_precision = keep
        self.master_grad = float32_gradients

    # -- learning rate ------------------------------------------------------------------------------------------------

    def get_lr(self) -> float:
        """The learning rate of the next step, without the groups' factors."""
        training = training_of_trace()
        if training is not None:
            held: float = rate_in_trace(training, self)
            return held
        rate = self._learning_rate
        return rate if rate.__class__ is float else float(rate())  # type: ignore[operator]

    def set_lr(self, value: float) -> None:
        """Set the learning rate; raises a RuntimeError when a scheduler decides it."""
        if isinstance(self._learning_rate, LRScheduler):
            raise StateMismatchError(
                f"{self._owner}.set_lr: the learning rate is set by {type(self._learning_rate).__name__}",
                hint="use set_lr_scheduler, or change the scheduler",
            )
        if isinstance(value, LRScheduler):
            raise DTypeError(
                f"{self._owner}.set_lr: value must be a float", hint="use set_lr_scheduler for a scheduler"
            )
        rate = value if is_number(value) else _check_rate(f"{self._owner}.set_lr", value)
        training = training_of_trace()
        if training is not None:
            set_rate_in_trace(training, self, rate)
            return
        outside_programs(f"{self._owner}.set_lr", but_written=True)
        self._learning_rate = rate
        set_rate(self.program_state, self.get_lr())

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let `scheduler` decide the learning rate from now on."""
        if not isinstance(scheduler, LRScheduler):
            raise DTypeError(
                f"{self._owner}.set_lr_scheduler: scheduler must be an LRScheduler, got {type(scheduler).__name__}"
            )
        self._learning_rate = scheduler

    # -- what programs are told ---------------------------------------------------------------------------------------

    @property
    def rule(self) -> UpdateRule:
        """The arithmetic of the update."""
        return self._require_rule()

    def given_parameters(self) -> list[Any]:
        """The parameters that the user named."""
        return self._parameters()

    def grouped(self, pairs: PairList) -> list[tuple[Group, PairList]]:
        """The pairs of each group; in static mode the one group of an optimizer without parameters has all."""
        if not self._parameter_list:
            return [(self._groups[0], pairs)]
        grads = {p.name: g for p, g in pairs}
        return [(group, [(p, grads[p.name]) for p in group.params if p.name in grads]) for group in self._groups]

    # -- parameters ---------------------------------------------------------------------------------------------------

    def _parameters(self) -> list[Any]:
        return [p for group in self._groups for p in group.params]

    def parameters_with_grad(self) -> list[Any]:
        """The parameters that the next step updates."""
        return [p for p in self._parameters() if p.grad is not None and not stops_gradient(p)]

    # -- stepping -----------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Update every parameter that has a gradient, once."""
        _refuse_in_static_mode(self._owner)
        if training_of_trace() is not None:
            step_in_trace(self)
            return
        with span(TracerEventType.Optimization, f"{self._owner}.step"):
            lr = self.get_lr()
            for group in self._groups:
                grads = [(p, held_grad(p)) for p in group.params if not p.stop_gradient]
                pairs = [(p, grad) for p, grad in grads if grad is not None]
                self._apply(group, pairs, lr)

    def _apply(self, group: Group, pairs: PairList, lr: float) -> None:
        """Clip the gradients and run the rule on each parameter."""
        if group.clip is not None:
            pairs = group.clip([(p, as_float32(g)) for p, g in pairs] if self.master_grad else pairs)
        rule = self._require_rule()
        alike: dict[Any, list[Due]] = {}
        for param, grad in pairs:
            slot = self._slots.get(id(param)) or self._slot(param, group)
            array, grads = slot.begin(), grad._data
            if grads.dtype != array.dtype:
                grads = grads.astype(array.dtype)
            rate = lr * self.rate_factor(slot)
            if not rule.whole and memory_of(array) is not None:
                alike.setdefault((rate, slot.decay, id(slot.attrs)), []).append((slot, array, grads))
            else:
                self._update(rule, slot, array, grads, rate)
        for (rate, *_), found in alike.items():
            if not self._update_together(rule, found, rate):
                for each in found:
                    self._update(rule, *each, rate)
        if WATCH.on:
            for param, _ in pairs:
                show(get_op(rule.name), [], [param._data])

    def _update(self, rule: UpdateRule, slot: Slot, array: Any, grad: Any, rate: float) -> None:
        """Run the rule on one parameter."""
        work = self._work.get(array.dtype) or self._workspace(array.dtype, rule)
        rule.run(array, grad, rate, slot.arrays, slot.counters, slot.attrs, slot.decay, work)
        slot.finish()

    def _update_together(self, rule: UpdateRule, found: Sequence[Due], rate: float) -> bool:
        """Whether parameters with the same settings could be updated at once."""
        is_small = len(found) == 1 and found[0][1].size <= MAX_GATHERED
        if is_small or len({id(memory_of(array)) for _, array, _ in found}) < len(found):
            return False
        columns = [*zip(*[(array, grad, *slot.arrays, *slot.counters) for slot, array, grad in found])]
        first = found[0][0]
        if not together(rule, columns, rate, first.attrs, first.decay, self._scratch):
            return False
        for slot, _, _ in found:
            slot.finish()
        return True

    def _workspace(self, dtype: Any, rule: UpdateRule) -> Workspace:
        work = self._work[dtype] = Workspace(dtype, rule.n_coefs)
        return work

    def rate_factor(self, settings: ParameterSettings) -> float:
        """The factor on the learning rate for one parameter."""
        return settings.lr

    def minimize(
        self, loss: Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], PairList]:
        """Update by the gradients that `loss.backward()` left; returns ([], the (parameter, gradient) pairs).

        A loss that is a Variable gets its backward, clipping, decay and updates appended to its program instead, the
        state is filled by `startup_program` (the default one), and the update operators are returned first.
        parameters: those to update, all by default. no_grad_set: Tensors, or their names, to leave alone.
        Raises DTypeError for another loss, ArgumentError for a Variable where no program is being written.
        Source: paddle.optimizer.Optimizer.minimize.
        """
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        return self.apply_optimize(loss, startup_program, pairs), pairs

    def apply_optimize(self, loss: Any, startup_program: Any, params_grads: PairList) -> list[Any]:
        """`apply_gradients`, in the program of `loss` and with the state filled by `startup_program`."""
        if isinstance(loss, Tensor) or training_of_trace() is not None:
            return self.apply_gradients(params_grads)
        return apply_in_program(self, params_grads, startup_program)

    def backward(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> PairList:
        """The pairs of parameter and gradient that there are; `loss.backward()` has computed them.

        In static mode backward operators are appended to the program.
        """
        if not isinstance(loss, Tensor) and training_of_trace() is None:
            loss = check_loss(self._owner, loss, startup_program)
            return backward_in_program(self, loss, startup_program, parameters, no_grad_set)
        params = list(parameters) if parameters else self._parameters()
        skipped = {item if isinstance(item, str) else item.name for item in no_grad_set or ()}
        return [(p, p.grad) for p in params if p.grad is not None and not stops_gradient(p) and p.name not in skipped]

    def apply_gradients(self, params_grads: PairList) -> list[Any]:
        """Update by these pairs of parameter and gradient; returns the operators that do it in a program, else []."""
        if params_grads and not isinstance(params_grads[0][0], Tensor):
            return apply_in_program(self, params_grads)
        if training_of_trace() is not None:
            step_in_trace(self, params_grads)
            return []
        with span(TracerEventType.Optimization, f"{self._owner}.apply_gradients"):
            lr = self.get_lr()
            grads = {id(p): g for p, g in params_grads}
            for group in self._groups:
                self._apply(group, [(p, grads[id(p)]) for p in group.params if id(p) in grads], lr)
        return []

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients to zero, or to None with set_to_zero=False."""
        for param in self._parameters():
            if not stops_gradient(param):
                param.clear_gradient(set_to_zero)

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients to None, or to zero with set_to_none=False."""
        self.clear_grad(not set_to_none)

    # -- state dicts --------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The state as {"<parameter>_<state>_0": Tensor}, with "LR_Scheduler" and "master_weights" where they exist.

        The name of the optimizer, if it has one, stands before that of the state.
        The Tensors share memory with the optimizer. Before the first step there is no state.
        """
        rule = self._require_rule()
        state: dict[str, Any] = {**self.program_state.by_name()}
        for index, name in enumerate((*rule.arrays, *rule.counters)):
            for slot in self._slots.values():
                key = f"{slot.key(name)}_0"
                state[key] = _named((*slot.arrays, *slot.counters)[index], key)
        masters = {
            s.param.name: _named(s.master, f"{s.param.name}_fp32_master_0")
            for s in self._slots.values()
            if s.keep_master
        }
        if masters:
            state["master_weights"] = masters
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over a copy of a saved state; parameters that have not been updated yet do so at their first step.

        Raises a RuntimeError when the state of a parameter is missing, ShapeError when it does not fit.
        """
        # Paddle counts the optimizers of a process at the end of each key; here it is always 0.
        state = {_COUNT.sub("_0", key): value for key, value in state_dict.items()}
        schedule = state.pop("LR_Scheduler", None)
        if self.program_state.states:
            load_state(self._owner, self.program_state, state_dict)
        if schedule is not None and isinstance(self._learning_rate, LRScheduler):
            self._learning_rate.set_state_dict(schedule)
        for slot in self._slots.values():
            self._load_slot(slot, state)
        masters = state.pop("master_weights", {})
        self._loaded = {key: np.array(value) for key, value in state.items()}
        if masters:
            self._loaded["master_weights"] = {key: np.array(value) for key, value in masters.items()}

    set_dict = set_state_dict
    load_state_dict = set_state_dict

    def _load_slot(self, slot: Slot, state: Mapping[str, Any]) -> None:
        rule = self._require_rule()
        for name, array in zip((*rule.arrays, *rule.counters), (*slot.arrays, *slot.counters)):
            key = f"{slot.key(name)}_0"
            if key not in state:
                raise StateMismatchError(
                    f"{self._owner}: the loaded state has no {key!r}",
                    hint="parameters are matched by name: was it saved from a model whose parameters are named alike?",
                )
            _load(key, array, _once(state[key]) if name in rule.counters else state[key])
        masters = state.get("master_weights", {})
        if slot.keep_master and slot.param.name in masters:
            _load(slot.name, slot.master, masters[slot.param.name])

    def get_opti_var_name_list(self) -> list[str]:
        """Names of the state tensors that exist."""
        return [key for key in self.state_dict() if key not in ("LR_Scheduler", "master_weights")]


def _refuse_in_static_mode(owner: str) -> None:
    if getattr(recorder.get(), "persistables", None) is not None:
        raise UnsupportedError(
            f"{owner}.step() is for eager code, and a program is being written",
            hint=f"{owner}(...).minimize(loss) makes the updates operators of the program, which each run does",
        )


def as_float32(grad: Any) -> Any:
    """A 16-bit gradient in float32, any other as it is."""
    return wrap(grad._data.astype(np.float32)) if grad._data.dtype.itemsize == HALF else grad


def _named(array: Any, name: str) -> Tensor:
    tensor = wrap(array)
    tensor.name = name
    tensor.persistable = True
    return tensor


def _once(counter: Any) -> Any:
    """A counter's one value: Paddle's NAdam and RAdam hold it once for each element of the parameter."""
    values = np.asarray(counter).reshape(-1)
    return values[:1] if values.size and (values == values[0]).all() else values


def _load(key: str, target: Any, value: Any) -> None:
    """Copy `value` into the state array `target`."""
    source = value._data if isinstance(value, Tensor) else np.asarray(value)
    if source.size != target.size:
        raise ArgumentError(f"{key}: the loaded state has shape {list(source.shape)}, expected {list(target.shape)}")
    if isinstance(target, np.ndarray):
        source = np.asarray(source.get() if hasattr(source, "get") else source)
    target[...] = source.reshape(target.shape)


def _check_rate(owner: str, rate: Any) -> float | LRScheduler:
    if isinstance(rate, LRScheduler):
        return rate
    if not isinstance(rate, (int, float, np.floating)) or isinstance(rate, bool):
        raise DTypeError(f"{owner}: learning rate must be a float or LRScheduler, got {type(rate).__name__}")
    return float(rate)


def _check_clip(owner: str, clip: Any) -> Any:
    if clip is not None and not callable(clip):
        raise DTypeError(
            f"{owner}: grad_clip must be a ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm, "
            f"got {type(clip).__name__}"
        )
    return clip
