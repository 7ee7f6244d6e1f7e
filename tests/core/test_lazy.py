"""Optional packages."""

import pickle
import subprocess
import sys

import pytest

from vitrify.core import lazy


def test_an_installed_package_is_imported_when_asked_for():
    assert lazy.require("colorsys", extra="examples", purpose="a picture") is sys.modules["colorsys"]
    assert lazy.require("os.path", extra="examples", purpose="paths").join("a", "b")


def test_a_missing_package_names_the_extra_that_brings_it():
    with pytest.raises(ImportError) as info:
        lazy.require("no_such_package.part", extra="onnx", purpose="exporting to ONNX")
    assert str(info.value) == (
        "exporting to ONNX needs the package 'no_such_package', which is not installed: pip install 'vitrify[onnx]'"
    )
    assert info.value.name == "no_such_package" and info.value.extra == "onnx"


def test_the_error_survives_pickling():
    error = pickle.loads(pickle.dumps(lazy.MissingPackageError("p", "e", "x")))
    assert (error.package, error.extra, error.purpose) == ("p", "e", "x")


def test_looking_for_a_package_does_not_import_it():
    sys.modules.pop("this", None)
    assert lazy.is_available("this") and not lazy.is_available("no_such_package")
    assert "this" not in sys.modules


def test_a_package_that_fails_to_import_keeps_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise OSError('no driver')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OSError, match="no driver"):
        lazy.require("broken_package", extra="cuda12", purpose="a GPU")


def test_parts_of_a_package_load_when_first_used():
    get = lazy.lazy_attributes("xml", modules=("dom",), names={"Element": "etree.ElementTree"}, all_of=("sax",))
    assert get("dom") is sys.modules["xml.dom"] and get("Element") is sys.modules["xml.etree.ElementTree"].Element
    assert get("parseString") is sys.modules["xml.sax"].parseString
    for name in ("nothing", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"module 'xml' has no attribute '{name}'"):
            get(name)


_ALONE = """
import sys
from vitrify.core.lazy import extension_module
found = extension_module("scipy.linalg.cython_blas")
assert "scipy.linalg" not in sys.modules and found.__pyx_capi__["sgemm"]
import scipy.linalg.cython_blas
assert scipy.linalg.cython_blas is found and scipy.linalg.solve([[2.0]], [1.0]) == [0.5]
assert extension_module("scipy.linalg.cython_blas") is found
"""


def test_an_extension_module_comes_without_its_package():
    subprocess.run([sys.executable, "-c", _ALONE], check=True)
