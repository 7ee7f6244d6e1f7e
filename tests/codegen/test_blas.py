"""Whose matrix products native programs call: MKL's where the package is installed, else those that SciPy has."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

import vitrify as paddle
from vitrify.codegen import blas
from vitrify.codegen.emit import FLOAT32, FLOAT64
from vitrify.core import blas_threads as threads
from vitrify.core import mkl as found


@pytest.fixture
def fresh():
    """What is known of MKL and of BLAS's addresses is asked for again, and forgotten behind the test."""
    caches = (found.mkl, blas.gemm)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def install(folder, monkeypatch, files):
    """A package `mkl` with these files, as installers write it down."""
    info = folder / "mkl-2026.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mkl\nVersion: 2026.0\n")
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in files))
    monkeypatch.syspath_prepend(str(folder))


def address_in_scipy(name):
    return blas._of_scipy(name)


def test_without_the_package_it_is_scipys(fresh, monkeypatch):
    monkeypatch.setattr(found, "runtime_path", lambda: None)
    assert found.mkl() is None and not found.is_loaded() and paddle.version.mkl() == "OFF"
    assert blas.gemm(FLOAT32) == address_in_scipy("sgemm") and blas.gemm(FLOAT64) == address_in_scipy("dgemm")


@pytest.mark.parametrize("name", ["lib/libmkl_rt.so.2", "../../libmkl_rt.so.3", "bin/mkl_rt.2.dll"])
def test_the_package_says_where_the_library_is(name, fresh, tmp_path, monkeypatch):
    site = tmp_path / "a" / "b"
    site.mkdir(parents=True)
    install(site, monkeypatch, ["mkl/README.txt", "lib/libmkl_core.so.2", name])
    assert found.runtime_path() is None  # the file is gone
    (site / name).parent.mkdir(parents=True, exist_ok=True)
    (site / name).write_bytes(b"no library at all")
    assert found.runtime_path().samefile(site / name)
    assert found.mkl() is None and paddle.version.mkl() == "OFF"  # it cannot be loaded
    assert blas.gemm(FLOAT32) == address_in_scipy("sgemm")


class Library:
    """SciPy's functions under MKL's names, and how many threads it was told to use."""

    def __init__(self):
        functions = {f"{n}_": ctypes.CFUNCTYPE(None)(address_in_scipy(n)) for n in ("sgemm", "dgemm")}
        self.__dict__.update(functions)
        self.told = []

    def MKL_Set_Num_Threads(self, count):
        self.told.append(count)

    def MKL_Get_Max_Threads(self):
        return self.told[-1]


def test_with_the_package_it_is_mkls_and_as_many_threads(fresh, monkeypatch):
    library = Library()
    mine = SimpleNamespace(now=6)
    monkeypatch.setattr(threads, "_functions", lambda: (lambda n: setattr(mine, "now", n), lambda: mine.now))
    for module in (blas, found):
        monkeypatch.setattr(module, "mkl", lambda: library)
    is_loaded = SimpleNamespace(mkl=lambda: library, is_loaded=lambda: bool(library.told))
    monkeypatch.setattr(threads, "_mkl", is_loaded)  # not by the module, of which it may know the functions by now
    with threads.blas_threads(3):
        assert mine.now == 3 and not library.told
        assert blas.gemm(FLOAT64) == ctypes.cast(library.dgemm_, ctypes.c_void_p).value
        assert library.told == [3]  # it is loaded in a block, and follows its end
    assert (mine.now, library.told) == (6, [3, 6])
    with threads.blas_threads(1), threads.blas_threads(2):
        assert (mine.now, library.told[-1]) == (2, 2)
    assert (mine.now, library.told[-1]) == (6, 6)


def test_products_of_a_native_program_are_right_with_whatever_there_is():
    x, y = (np.random.default_rng(i).normal(size=(9, 9)) for i in (0, 1))
    compiled = paddle.jit.to_static(lambda x, y: paddle.matmul(x, y) + 1, full_graph=True)
    for _ in range(3):
        out = compiled(paddle.to_tensor(x), paddle.to_tensor(y))
    np.testing.assert_allclose(out.numpy(), x @ y + 1, rtol=1e-12)
