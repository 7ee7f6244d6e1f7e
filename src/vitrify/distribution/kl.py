"""Kullback-Leibler divergences: how many nats a draw of p tells against q, on average."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

from ..core.errors import DTypeError
from ..ops.complex_ import abs as abs_
from ..ops.like import full_like
from ..ops.reduce import sum as sum_
from ..ops.select import where
from ..ops.softmax import log_softmax, softmax
from ..ops.special import digamma, lgamma
from ..ops.unary import exp, log, log1p, square
from .bernoulli import Bernoulli, inside_unit
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import KL, Distribution, sum_last
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .independent import Independent
from .laplace import Laplace
from .lognormal import LogNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .poisson import Poisson
from .uniform import Uniform

Rule = TypeVar("Rule", bound=Callable[..., Any])


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The expected value of log p - log q for draws of p: [*batch]. Raises NotImplementedError for unknown pairs.

    Source: paddle.distribution.kl_divergence.

    Example:
        >>> import vitrify as paddle
        >>> p, q = paddle.distribution.Normal(0.0, 1.0), paddle.distribution.Normal(1.0, 1.0)
        >>> paddle.distribution.kl_divergence(p, q).item()
        0.5
    """
    return KL.divergence(p, q)


def register_kl(cls_p: type, cls_q: type) -> Callable[[Rule], Rule]:
    """A decorator for the function that gives `kl_divergence` for two classes. Raises DTypeError for other classes.

    Source: paddle.distribution.register_kl.

    Example:
        >>> import vitrify as paddle
        >>> from vitrify.distribution import Gumbel, register_kl
        >>> @register_kl(Gumbel, Gumbel)
        ... def rule(p, q):
        ...     return p.loc - q.loc
        >>> paddle.distribution.kl_divergence(Gumbel(3.0, 1.0), Gumbel(1.0, 1.0)).item()
        2.0
    """
    if not (issubclass(cls_p, Distribution) and issubclass(cls_q, Distribution)):
        raise DTypeError("register_kl: expects two subclasses of Distribution")

    def register(rule: Rule) -> Rule:
        KL.add(cls_p, cls_q, rule)
        return rule

    return register


def _bits(p: Any, q: Any) -> Any:
    """Of one trial with chances p and q."""
    a, b = inside_unit(p), inside_unit(q)
    return a * (log(a) - log(b)) + (1 - a) * (log1p(-a) - log1p(-b))


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Any:
    return _bits(p.probs, q.probs)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Any:
    return _bits(p.probs, q.probs)  # as Paddle's: of one trial, not of all until a success


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Any:
    rest = q.total_count - p.total_count
    further = p._mean_log_ways(p.total_count) - p._mean_log_ways(q.total_count) - rest * log1p(-inside_unit(q.probs))
    found = p.total_count * _bits(p.probs, q.probs) + further
    return where(rest < 0, full_like(found, math.inf), found)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Any:
    difference = log_softmax(p.logits) - log_softmax(q.logits)
    return sum_(softmax(p.logits) * difference, axis=-1, keepdim=True)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Any:
    a = inside_unit(q.probs)
    return -p.entropy() - p.mean * (log(a) - log1p(-a)) - log1p(-a) - q._log_norm()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Any:
    a, b = p.concentration, q.concentration
    shares = digamma(a) - digamma(sum_(a, axis=-1, keepdim=True))
    return q._log_norm() - p._log_norm() + sum_((a - b) * shares, axis=-1)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Any:
    return _dirichlet(p._pair, q._pair)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Any:
    ratio = q.rate / p.rate
    return ratio - 1 - log(ratio)


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Any:
    a, b = p.concentration, q.concentration
    grown = b * (log(p.rate) - log(q.rate)) + lgamma(b) - lgamma(a)
    return grown + (a - b) * digamma(a) + a * (q.rate / p.rate - 1)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Any:
    distance = abs_(p.loc - q.loc)
    spread = (p.scale * exp(-distance / p.scale) + distance) / q.scale
    return log(q.scale) - log(p.scale) + spread - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Any:
    return log((square(p.scale + q.scale) + square(p.loc - q.loc)) / (4 * p.scale * q.scale))


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Any:
    ratio = square(p.scale / q.scale)
    return 0.5 * (ratio + square((p.loc - q.loc) / q.scale) - 1 - log(ratio))


@register_kl(LogNormal, LogNormal)
def _lognormal(p: LogNormal, q: LogNormal) -> Any:
    return KL.divergence(p._base, q._base)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p: MultivariateNormal, q: MultivariateNormal) -> Any:
    return p.divergence(q)


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Any:
    return p.rate * (log(p.rate) - log(q.rate)) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Any:
    found = log((q.high - q.low) / (p.high - p.low))
    return where((q.low <= p.low) & (q.high >= p.high), found, full_like(found, math.inf))


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Any:
    if p._rank != q._rank:
        raise NotImplementedError("kl_divergence of Independent with different reinterpreted_batch_rank")
    return sum_last(KL.divergence(p._base, q._base), p._rank)
