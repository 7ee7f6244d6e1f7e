"""Places, and the device that new tensors are put on."""

import copy
import pickle

import pytest

from vitrify.core import place as p
from vitrify.core.errors import ArgumentError


@pytest.fixture
def with_cupy(monkeypatch):
    monkeypatch.setattr(p, "is_available", lambda module: True)


@pytest.fixture
def without_cupy(monkeypatch):
    monkeypatch.setattr(p, "is_available", lambda module: False)


def test_places_print_as_paddles_do():
    places = [p.CPUPlace(), p.CUDAPlace(1), p.CUDAPinnedPlace(), p.SimulatedPlace()]
    assert [str(place) for place in places] == ["Place(cpu)", "Place(gpu:1)", "Place(gpu_pinned)", "Place(simulated)"]


def test_places_are_equal_by_value():
    assert p.CPUPlace() == p.CPUPlace() and p.CUDAPlace(0) != p.CUDAPlace(1)
    assert len({p.CUDAPlace(0), p.CUDAPlace(0), p.CPUPlace()}) == 2
    assert p.CPUPlace() != "cpu"


@pytest.mark.parametrize("place", [p.CPUPlace(), p.CUDAPlace(2), p.CUDAPinnedPlace(), p.SimulatedPlace(1)], ids=str)
def test_copies_of_a_place_equal_it(place):
    for twin in (pickle.loads(pickle.dumps(place)), copy.deepcopy(place)):
        assert twin == place and type(twin) is type(place)


def test_a_place_cannot_be_changed():
    with pytest.raises(AttributeError, match=r"cannot be changed: Place\(gpu:1\).index"):
        p.CUDAPlace(1).index = 2


@pytest.mark.parametrize(
    ("place", "predicate"),
    [
        (p.CPUPlace(), "is_cpu_place"),
        (p.CUDAPlace(0), "is_gpu_place"),
        (p.CUDAPinnedPlace(), "is_cuda_pinned_place"),
        (p.SimulatedPlace(), "is_simulated_place"),
    ],
)
def test_a_place_knows_its_kind(place, predicate):
    names = ["is_cpu_place", "is_gpu_place", "is_cuda_pinned_place", "is_simulated_place"]
    assert [name for name in names if getattr(place, name)()] == [predicate]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("cpu", p.CPUPlace()),
        ("gpu", p.CUDAPlace(0)),
        ("GPU:3", p.CUDAPlace(3)),
        ("gpu_pinned", p.CUDAPinnedPlace()),
        ("simulated:1", p.SimulatedPlace(1)),
        (p.CUDAPlace(1), p.CUDAPlace(1)),
    ],
)
def test_a_place_has_a_name(text, place):
    assert p.as_place(text) == place and type(p.as_place(text)) is type(place)


@pytest.mark.parametrize("text", ["foo", "cpu:0", "gpu:", "gpu:-1", "gpu_pinned:1", "", None, 3])
def test_other_names_are_refused(text):
    with pytest.raises(ValueError, match="a device is named like"):
        p.as_place(text)


def test_a_cuda_device_number_is_not_negative():
    with pytest.raises(ArgumentError, match="received -1"):
        p.CUDAPlace(-1)
    assert p.CUDAPlace(2).gpu_device_id() == 2


def test_the_current_place_is_scoped():
    assert p.current_place() == p.CPUPlace() and p.get_device() == "cpu"
    with p.place_guard("simulated") as place:
        assert place == p.current_place() == p.SimulatedPlace()
        assert p.set_device("simulated:1") == p.SimulatedPlace(1)
        assert p.get_device() == "simulated:1"
    assert p.current_place() == p.CPUPlace()


def test_a_gpu_is_chosen_by_name(with_cupy):
    with p.place_guard("cpu"):
        p.set_device("gpu")
        assert p.get_device() == "gpu:0"


@pytest.mark.parametrize("device", ["gpu:0", "gpu_pinned"])
def test_a_gpu_without_cupy_is_refused_and_changes_nothing(without_cupy, device):
    assert not p.is_compiled_with_cuda()
    with pytest.raises(ArgumentError, match="CuPy is not installed\n  hint: pip install 'vitrify\\[cuda12\\]'"):
        p.set_device(device)
    with pytest.raises(ArgumentError), p.place_guard(device):
        pass
    assert p.get_device() == "cpu"
