"""Datasets made of others, and random_split."""

import pytest

import vitrify as paddle
from vitrify.io import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)


class Count(IterableDataset):
    def __iter__(self):
        return iter(range(3))


def test_base_classes_say_what_to_define():
    for use, name in ((lambda: Dataset()[0], "__getitem__"), (lambda: len(Dataset()), "__len__")):
        with pytest.raises(NotImplementedError, match=name):
            use()
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(IterableDataset())


def test_iterable_dataset_has_no_length_and_no_items():
    with pytest.raises(RuntimeError, match="no length"):
        len(Count())
    with pytest.raises(RuntimeError, match="no items"):
        Count()[0]
    assert list(Count()) == [0, 1, 2]


def test_tensor_dataset():
    data = TensorDataset([paddle.arange(3), paddle.ones([3, 2])])
    assert len(data) == 3
    assert [field.tolist() for field in data[2]] == [2, [1, 1]]
    with pytest.raises(ValueError, match=r"same number of rows, got \[2, 3\]"):
        TensorDataset([paddle.ones([2]), paddle.ones([3])])


def test_compose_and_chain():
    assert ComposeDataset([[1, 2], [(3, 4), (5, 6)]])[1] == (2, 5, 6)
    assert len(ComposeDataset([[1, 2], [3, 4]])) == 2
    assert list(ChainDataset([Count(), Count()])) == [0, 1, 2, 0, 1, 2]
    for kind, make in (
        (ValueError, lambda: ComposeDataset([])),
        (ValueError, lambda: ComposeDataset([[1], [1, 2]])),
        (ValueError, lambda: ChainDataset([])),
        (TypeError, lambda: ChainDataset([[1]])),
    ):
        with pytest.raises(kind):
            make()


def test_concat():
    data = ConcatDataset(["ab", "c", "def"])
    assert [data[i] for i in range(6)] == list("abcdef")
    assert (data[-1], data[-6], len(data), data.cumulative_sizes) == ("f", "a", 6, [2, 3, 6])
    for index in (6, -7):
        with pytest.raises(IndexError, match="must be in"):
            data[index]
    with pytest.raises(ValueError, match="must not be empty"):
        ConcatDataset([])
    with pytest.raises(TypeError, match="IterableDataset"):
        ConcatDataset([Count()])


def test_subset():
    assert [Subset("abcd", [3, 1])[i] for i in range(2)] == ["d", "b"]


@pytest.mark.parametrize(
    ("lengths", "expected"), [([3, 7], [3, 7]), ([0.3, 0.3, 0.4], [3, 3, 4]), ([1 / 3] * 3, [4, 3, 3]), ([1.0], [10])]
)
def test_random_split(lengths, expected):
    paddle.seed(0)
    parts = random_split(range(10), lengths)
    assert [len(part) for part in parts] == expected
    paddle.seed(0)
    assert [i for part in parts for i in part.indices] == paddle.randperm(10).tolist()


@pytest.mark.parametrize("lengths", [[2, 2], [0.5, 0.6], [1.5, -0.5]])
def test_random_split_checks_lengths(lengths):
    with pytest.raises(ValueError, match="random_split"):
        random_split(range(10), lengths)
