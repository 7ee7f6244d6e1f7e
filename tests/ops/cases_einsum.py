"""einsum: what equations may say, against NumPy; what it lacks (broadcast sizes of 1, diagonals made) spelled out."""

import numpy as np

from vitrify.ops.einsum import einsum
from vitrify.testing import Case, complexes, floats, ints

SHAPES = {"i": 2, "j": 3, "k": 4, "l": 2, "b": 2, "h": 3}


def case(equation, *shapes, ref=None, **options):
    terms = equation.split("->")[0].split(",")
    arrays = [
        floats(*(shape if isinstance(shape, tuple) else ()), seed=n) if shape is not None
        else floats(*(SHAPES[c] for c in term), seed=n)
        for n, (term, shape) in enumerate(zip(terms, shapes or [None] * len(terms)))
    ]  # fmt: skip
    wanted = np.einsum(equation, *arrays) if ref is None else ref(*arrays)
    options.setdefault("second", True)
    return Case(f"einsum/{equation} {list(shapes)}", einsum, (equation, *arrays), ref=wanted, **options)


PAIRS = [
    case(equation)
    for equation in (
        "ij,jk->ik", "ij,jk->ki", "ij,kj", "ij,ij->", "i,j->ij", "i,i", "ij,ij->ij", "bij,bjk->bik", "bhik,bhjk->bhij",
        "bihk,bjhk->bhij", "bhij,bjhk->bihk", "ij,kl->ljki", "ijk,jk->i", "ijk,j->ik", "ij,k->jk", "ijk,kji->j", "ji,kj->ik",
    )
]  # fmt: skip
SINGLE = [
    case("ij->ji"),
    case("ji"),
    case("ij->"),
    case("ijk->k"),
    case("ii->i", (3, 3)),
    case("ii", (3, 3)),
    case("iji->ji", (2, 3, 2)),
    case("iij->j", (3, 3, 4)),
    case("iii->i", (2, 2, 2)),
    case("...ii->...i", (2, 3, 3)),
    case("ii->i", (1, 3), ref=lambda x: x[0], dynamic=False),
    case("ij->ii", (3, 4), ref=lambda x: np.diag(x.sum(1))),
    case("ij->iji", (2, 3), ref=lambda x: np.stack([np.diag(c) for c in x.T], 1)),
    case("...", (2, 3)),
    case("->", ()),
    case("i...->...", (2, 3, 4)),
    case("i...", (2, 3)),
]
BROADCAST = [
    case("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    case("...ij,...jk", (2, 1, 2, 3), (4, 3, 2)),
    case("a...b,...bc->...ac", (2, 5, 3), (5, 3, 4)),
    case("a...,a...->...", (2, 3, 1), (2, 4)),
    case("ij,ij->ij", (2, 1), (2, 4)),
    case("ij,jk->ik", (2, 1), (3, 4), ref=lambda x, y: x @ y.sum(0, keepdims=True)),
    case("ij,ij->", (2, 3), (1, 3), ref=lambda x, y: (x * y).sum()),
    case("bij,bjk->bik", (1, 2, 3), (4, 3, 2)),
    case("ij...,jk...->ik...", (2, 3, 1), (3, 4, 5)),
]
SEVERAL = [
    case("ij,jk,kl->il"),
    case("bij,bjk,bkl->bil"),
    case("i,j,k->ijk"),
    case("i,i,i->i"),
    case("ii,jj,ij->ij", (3, 3), (4, 4), (3, 4)),
    case("ij,jk,k,i->", second=False),
    case("ij,k,j->k"),
]
EMPTY = [
    case("ij,jk->ik", (2, 0), (0, 3), second=False),
    case("ij,jk->ik", (0, 2), (2, 3), second=False),
    case("ij,j->", (2, 0), (0,), second=False),
    case(",->", (), ()),
]
TYPES = [
    Case("einsum/int", einsum, ("ij,jk->ik", ints(2, 3), ints(3, 2)), ref=ints(2, 3) @ ints(3, 2)),
    Case("einsum/complex", einsum, ("ij,kj->ik", complexes(2, 3), complexes(4, 3)), ref=complexes(2, 3) @ complexes(4, 3).T,
         second=True),
    Case("einsum/real by complex", einsum, ("ij,jk->ik", floats(2, 3), complexes(3, 2)), ref=floats(2, 3) @ complexes(3, 2)),
    Case("einsum/spaces", einsum, (" i j, jk -> ik ", floats(2, 3), floats(3, 2)), ref=floats(2, 3) @ floats(3, 2)),
    Case("einsum/capitals", einsum, ("bA", floats(2, 3)), ref=floats(2, 3).T),
]  # fmt: skip
CASES = [*PAIRS, *SINGLE, *BROADCAST, *SEVERAL, *EMPTY, *TYPES]
