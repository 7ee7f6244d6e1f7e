"""The machine and its compiler; doing without them."""

import subprocess
import sys

import pytest

from tests.codegen.test_pointwise import block_of
from vitrify.codegen import llvm
from vitrify.codegen.errors import NoNativeForm
from vitrify.codegen.native import native_kernel, why_not


def test_without_llvmlite_there_is_no_native_form(monkeypatch):
    monkeypatch.setattr(llvm, "is_available", lambda name: False)
    llvm.host.cache_clear()
    try:
        block = block_of(lambda x: x * 2 + 1, ([3], "float32"))
        assert native_kernel(block) is None
        assert why_not(block) == "llvmlite is not installed"
        with pytest.raises(NoNativeForm):
            llvm.host()
    finally:
        llvm.host.cache_clear()


def test_llvmlite_is_not_imported_before_it_is_needed():
    code = "import vitrify, vitrify.codegen.native, sys; assert not any(m.startswith('llvmlite') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
