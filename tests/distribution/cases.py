"""One row a distribution: how it is made, the same of SciPy, and values to ask about."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats as st

from vitrify import distribution as D


@dataclass(frozen=True)
class Row:
    """Parameters as arrays; `peer(*parameters)` is SciPy's frozen distribution (elementwise)."""

    make: Any
    params: tuple[Any, ...]
    peer: Any
    values: Any
    discrete: bool = False

    def __str__(self):
        return self.make.__name__


def arrays(*rows):
    return tuple(np.array(row) for row in rows)


LOC, SCALE = arrays([0.5, -1.0, 2.0], [0.5, 1.5, 2.0])
POSITIVE = np.array([[0.3, 1.2, 2.5], [0.7, 0.1, 4.0]])
REAL = np.array([[0.3, -1.2, 2.5], [-0.7, 0.1, 3.9]])
UNIT = np.array([[0.3, 0.6, 0.1], [0.9, 0.5, 0.2]])
COUNTS = np.array([[0.0, 1.0, 3.0], [2.0, 0.0, 1.0]])
PROBS = np.array([0.2, 0.5, 0.8])

ROWS = [
    Row(D.Normal, (LOC, SCALE), st.norm, REAL),
    Row(D.Uniform, (LOC, LOC + SCALE), lambda a, b: st.uniform(a, b - a), REAL),
    Row(D.Laplace, (LOC, SCALE), st.laplace, REAL),
    Row(D.Gumbel, (LOC, SCALE), st.gumbel_r, REAL),
    Row(D.Cauchy, (LOC, SCALE), st.cauchy, REAL),
    Row(D.Exponential, (SCALE,), lambda r: st.expon(scale=1 / r), POSITIVE),
    Row(D.Gamma, (SCALE, SCALE + 1), lambda c, r: st.gamma(c, scale=1 / r), POSITIVE),
    Row(D.Chi2, (SCALE + 1,), st.chi2, POSITIVE),
    Row(D.Beta, (SCALE, SCALE[::-1].copy()), st.beta, UNIT),
    Row(D.LogNormal, (LOC, SCALE), lambda m, s: st.lognorm(s, scale=np.exp(m)), POSITIVE),
    Row(D.StudentT, (SCALE + 2.5, LOC, SCALE), st.t, REAL),
    Row(D.Bernoulli, (PROBS,), st.bernoulli, (COUNTS > 0) * 1.0, True),
    Row(D.Poisson, (SCALE,), st.poisson, COUNTS, True),
    Row(D.Binomial, (np.array([5.0, 3.0, 4.0]), PROBS), st.binom, COUNTS, True),
    Row(D.Geometric, (PROBS,), lambda p: st.geom(p, loc=-1), COUNTS, True),
]
