"""A call of each API that works: that of a row or case where there is one, else one found by trying."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import vitrify
from tests.conformance.execution import run
from tests.conformance.generated.layers import LayerCall
from tests.conformance.generated.names import Name
from tests.conformance.spec import Case, Row, T, choices, index, literal, row, t
from tests.conformance.tables import NAMES, rows_in

TRIES = 160
LARGEST = 2**20  # parameters of a Layer whose defaults alone say how large it is, 22 of which would be made
CALLS = 2  # of rows and cases, to start from
RANDOM = frozenset(
    """alpha_dropout bernoulli bernoulli_ binomial cauchy_ class_center_sample create_parameter dropout dropout1d
    dropout2d dropout3d exponential_ feature_alpha_dropout fractional_max_pool2d fractional_max_pool3d
    fused_dropout_add gaussian geometric_ gumbel_softmax log_normal log_normal_ multinomial normal normal_
    pca_lowrank poisson rand rand_like randint randint_like randn randn_like random_ randperm rrelu
    sample_neighbors standard_gamma standard_normal svd_lowrank top_p_sampling uniform uniform_
    weighted_sample_neighbors""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Base:
    """Positional and keyword arguments that work."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


FIRST = (t(2, 3), t(4), t(3, 3, values="definite"), t(2, 4, 6, 6), t(2, 4, 6), t(2, 4, 5, 6, 5), index(2, 3, below=3))
SECOND = (
    t(2, 3, seed=1),
    t(3, 2, seed=1),
    t(3, seed=1),
    index(2, below=2),
    index(2, 3, below=2),
    t(6, 4, 3, 3, seed=1),
)
BY_NAME: dict[str, tuple[Any, ...]] = {
    "axis": (0,),
    "dim": (0,),
    "axes": (0, [0]),
    "perm": ([1, 0], [0, 1]),
    "shape": ([2, 3], [6]),
    "dtype": ("float32",),
    "dim0": (0,),
    "dim1": (1,),
    "axis0": (0,),
    "axis1": (1,),
    "source": (0,),
    "destination": (1,),
    "num": (3,),
    "n": (2,),
    "k": (1, 2),
    "q": (0.5,),
    "repeat_times": ([2, 1],),
    "repeats": (2,),
    "kernel_size": (2, 3),
    "kernel_sizes": (2,),
    "output_size": (3,),
    "output_sizes": ([4, 5],),
    "in_channels": (4,),
    "out_channels": (6,),
    "num_features": (4,),
    "num_channels": (4,),
    "num_groups": (2,),
    "groups": (2,),
    "upscale_factor": (2,),
    "downscale_factor": (2,),
    "normalized_shape": (6, 3),
    "in_features": (6, 3),
    "out_features": (5,),
    "num_embeddings": (7,),
    "embedding_dim": (3,),
    "input_size": (6,),
    "hidden_size": (5,),
    "d_model": (6,),
    "nhead": (2,),
    "dim_feedforward": (8,),
    "embed_dim": (6,),
    "num_heads": (2,),
    "padding": (1, [1, 2]),
    "pad": ([1, 2], [1, 2, 1, 2]),
    "factor": (2,),
    "value": (1.5,),
    "fill_value": (1.5,),
    "start": (0,),
    "stop": (4,),
    "end": (4,),
    "min": (-1.0,),
    "max": (1.0,),
    "num_rows": (3,),
    "num_classes": (5,),
    "chunks": (2,),
    "num_or_sections": (1,),
    "shifts": (1,),
    "size": ([5, 6], 3),
    "offset": (0,),
    "norm_type": (2,),
    "epsilon": (1e-5,),
    "eps": (1e-5,),
    "in1_features": (3,),
    "in2_features": (3,),
    "weight_shape": ([2, 3],),
    "label": (index(2, below=3), t(2, 3, values="probability", seed=2)),
    "num_samples": (2,),
    "diagonal": (0,),
    "equation": ("ij->ji",),
    "num_layers": (1,),
    "frame_length": (2,),
    "hop_length": (1,),
    "n_fft": (4,),
    "scale": (1.0,),
    "condition": (t(2, 3, values="mask", dtype="bool"),),
    "mask": (t(2, 3, values="mask", dtype="bool"),),
    "index": (index(2, below=2), index(2, 3, below=2)),
    "indices": (index(2, below=2), index(2, 3, below=2)),
    "ids": (index(2, 3, below=3),),
    "lengths": (index(3, below=4),),
    "maxlen": (4,),
}


def case_of(name: Name, base: Base, dtype: str = "float32") -> Case:
    """Return the case that calls an API so."""
    made: Row = row(name.path).as_function_only()
    if name.last in RANDOM:
        made = made.shapes_only()
    if name.last.endswith("_"):
        made = made.in_place()
    if name.kind == "layer":
        made = made.through(LayerCall(name.last))
    return Case(made, "method" if name.kind == "method" else "function", base.args, base.kwargs, dtype)


def bases_of(name: Name) -> list[Base]:
    """Return the calls to start from; none where nothing tried works."""
    known = _known().get(name.path) or _known().get(_sibling(name)) or []
    working = [base for base in known if _works(name, base)]
    if working:
        return working[:CALLS]
    return list(itertools.islice((base for base in _tried(name) if _works(name, base)), 1))


def _sibling(name: Name) -> str:
    plain = "paddle." + name.last
    if plain in _known():
        return plain
    return next((p for p in (f"paddle.{m}.{name.last}" for m in ("linalg", "nn.functional")) if p in _known()),
                plain.removesuffix("_"))  # fmt: skip


def _works(name: Name, base: Base) -> bool:
    return bool(run(vitrify, case_of(name, base))["kind"] == "value")


def _tried(name: Name) -> Iterator[Base]:
    """Calls with values that parameters of such names usually have."""
    tensors = iter((FIRST, SECOND, SECOND, SECOND))
    if name.kind == "layer":
        if not name.required and _size_of(name) > LARGEST:
            return
        settings = [BY_NAME.get(p, (2,)) for p in name.required]
        inputs = [(x,) for x in FIRST] + [(x, y) for x in FIRST for y in (x, index(x.shape[0], below=2))]
        inputs += [(FIRST[0],) * 3]
        for picked, made in itertools.islice(itertools.product(inputs, itertools.product(*settings)), TRIES):
            yield Base(picked, dict(zip(name.required, made)))
        return
    places = [BY_NAME[p] if p in BY_NAME else next(tensors, (2,)) for p in name.required]
    for picked in itertools.islice(itertools.product(*places), TRIES):
        yield Base(picked, {})
        if picked and isinstance(picked[0], T):
            yield Base(([picked[0], picked[0]], *picked[1:]), {})


def _size_of(name: Name) -> int:
    """How many parameters a Layer has that needs no settings."""
    return sum(parameter.size for parameter in getattr(vitrify.nn, name.last)().parameters())


@cache
def _known() -> dict[str, list[Base]]:
    """The calls of the tables' rows, then those of the operations' own cases."""
    found: dict[str, list[Base]] = {}
    for table in NAMES:
        for one in rows_in(table):
            if one.call is None:
                args, kwargs = choices(one)[0]
                found.setdefault(one.api, []).append(Base(args, kwargs))
    for api, base in _of_operations():
        found.setdefault(api, []).append(base)
    return found


HOMES = ("paddle.", "paddle.linalg.", "paddle.fft.", "paddle.nn.functional.", "paddle.vision.ops.")
OPERATIONS = """activation compare conv einsum elementwise factors fft gather interpolate linalg losses norm pool reduce
search shape structured_losses unary vision""".split()  # noqa: SIM905


def _of_operations() -> Iterator[tuple[str, Base]]:
    from vitrify.testing import Case as OperationCase

    for family in OPERATIONS:
        module = import_module(f"tests.ops.cases_{family}")
        for values in list(vars(module).values()):
            for one in values if isinstance(values, list) else ():
                if isinstance(one, OperationCase) and getattr(one.fn, "__name__", "<")[0] != "<":
                    args, kwargs = _stand_in(tuple(one.args)), _stand_in(dict(one.kwargs))
                    for prefix in HOMES:
                        yield prefix + one.fn.__name__, Base(args, kwargs)


def _stand_in(value: Any) -> Any:
    """A tensor's stand-in for each array."""
    if isinstance(value, (list, tuple)):
        return type(value)(_stand_in(item) for item in value)
    if isinstance(value, dict):
        return {name: _stand_in(item) for name, item in value.items()}
    if not hasattr(value, "dtype") or not hasattr(value, "tolist"):
        return value
    if value.dtype.kind != "f":
        return literal(value.tolist(), value.dtype.name, grad=False)
    positive = bool(value.size) and bool((value > 0).all())
    below_one = bool(value.size) and bool((value < 1).all())
    return t(*value.shape, values="probability" if positive and below_one else "positive" if positive else "normal")
