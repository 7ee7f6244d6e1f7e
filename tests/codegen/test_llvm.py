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


def test_options_that_kernels_are_compiled_with_are_theirs_alone():
    loop = """
        define void @f(ptr %to, ptr %from, i64 %step, i64 %n) {
        entry:
          br label %loop
        loop:
          %i = phi i64 [0, %entry], [%next, %loop]
          %place = mul i64 %i, %step
          %at = getelementptr float, ptr %from, i64 %place
          %x = load float, ptr %at
          %there = getelementptr float, ptr %to, i64 %i
          store float %x, ptr %there
          %next = add nuw i64 %i, 1
          %more = icmp ult i64 %next, %n
          br i1 %more, label %loop, label %done
        done:
          ret void
        }"""

    def by_others():
        machine = llvm.host().machine()
        return bytes(machine.emit_object(llvm.optimized(loop, machine)))

    before = by_others()
    has_option = llvm.host().is_x86 and llvm._llvm.llvm_version_info[0] <= llvm._LAST_KNOWN
    assert (llvm.object_code(loop) == before) != has_option
    assert by_others() == before
    with pytest.raises(RuntimeError, match="parsing"):
        llvm.object_code("this is no IR")
    assert by_others() == before
