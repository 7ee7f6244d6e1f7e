"""What is written where there is no linker: an object file with the program's functions and parameters."""

import sys

import pytest

import vitrify as paddle
from vitrify.codegen.llvm import why_not_here
from vitrify.core.lazy import lazy_module

llvm = lazy_module("llvmlite.binding")
RELOCATABLE = 1
pytestmark = pytest.mark.skipif(bool(why_not_here()), reason=why_not_here() or "")


@pytest.fixture
def no_linker(tmp_path, monkeypatch):
    """A PATH on which no linker is found."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


@pytest.mark.skipif(sys.platform != "linux", reason="names of libraries are those of Linux")
def test_an_object_file_is_written_and_runs(tmp_path, no_linker):
    net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.GELU(), paddle.nn.Linear(8, 3))
    (tmp_path / "net.so").write_bytes(b"of an earlier save")
    with pytest.warns(UserWarning, match="no linker is found .* link it with: cc -shared"):
        paddle.jit.save(net, tmp_path / "net", input_spec=[paddle.static.InputSpec([None, 4])], format="native")
    assert not (tmp_path / "net.so").exists()
    assert "net_run" in (tmp_path / "net.h").read_text()
    code = (tmp_path / "net.o").read_bytes()
    assert code[:4] == b"\x7fELF" and int.from_bytes(code[16:18], "little") == RELOCATABLE
    held = {section.name(): section.data() for section in llvm.ObjectFileRef.from_data(code).sections()}
    assert len(held[b".text"]) > 1000
    names = held[b".strtab"].split(b"\0")
    for name in ("run", "shapes", "input_count", "output_shape", "last_error", "release"):
        assert f"net_{name}".encode() in names
    weight = net[0].weight.numpy().tobytes()
    assert any(weight[:16] in data for data in held.values())
