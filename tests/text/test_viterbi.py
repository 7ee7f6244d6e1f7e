"""Viterbi decoding against trying all sequences; which rows are start and end tags is as PaddlePaddle 3.3.1 has it."""

import itertools

import numpy as np
import pytest

import vitrify as paddle
from tests.end_to_end.differential import compare


def best(fit, follow, length, tagged):
    def score(tags):
        found = sum(fit[t, tag] for t, tag in enumerate(tags)) + sum(follow[a, b] for a, b in itertools.pairwise(tags))
        return found + (follow[-1, tags[0]] + follow[-2, tags[-1]] if tagged else 0)

    return max((score(tags), tags) for tags in itertools.product(range(fit.shape[1]), repeat=length))


@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_best_of_all_sequences(tagged, dtype):
    rng = np.random.default_rng(3)
    fit, follow = rng.standard_normal((4, 5, 4)).astype(dtype), rng.standard_normal((4, 4)).astype(dtype)
    lengths = [4, 1, 3, 2]
    decoder = paddle.text.ViterbiDecoder(paddle.to_tensor(follow), tagged)
    scores, path = decoder(paddle.to_tensor(fit), paddle.to_tensor(lengths))
    assert str(scores.dtype) == f"paddle.{dtype}"
    assert path.shape == [4, 4] and str(path.dtype) == "paddle.int64"
    for row, length in enumerate(lengths):
        score, tags = best(fit[row].astype("float64"), follow.astype("float64"), length, tagged)
        np.testing.assert_allclose(scores[row].item(), score, rtol=1e-5)
        assert path[row].tolist() == [*tags, *[0] * (4 - length)]


def test_compiled():
    rng = np.random.default_rng(0)
    follow = paddle.to_tensor(rng.standard_normal((3, 3)))
    calls = [[paddle.to_tensor(rng.standard_normal((2, 4, 3))), paddle.to_tensor(n)] for n in ([4, 2], [1, 3])]
    compare(lambda fit, lengths: paddle.text.viterbi_decode(fit, follow, lengths)[1], *calls)
