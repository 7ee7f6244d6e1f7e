"""Native programs in C and C++: the header is valid in both, the examples run, two models link into one program."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import vitrify as paddle
from vitrify.static import InputSpec

EXAMPLES = Path(__file__).parents[2] / "examples" / "native"
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
STRICT = ["-Wall", "-Wextra", "-Werror", "-pedantic"]


def run(*command, cwd):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The folder of the example after its first step, and what that printed."""
    folder = tmp_path_factory.mktemp("native")
    for file in EXAMPLES.iterdir():
        shutil.copy(file, folder)
    return folder, run(sys.executable, "save.py", cwd=folder)


def test_the_example_in_c(example):
    folder, wanted = example
    link = ["build/digits.so", "-Wl,-rpath,$ORIGIN/build"]
    run("cc", "-std=c99", *STRICT, "run.c", *link, "-o", "run", cwd=folder)
    assert run("./run", cwd=folder) == wanted


def test_the_example_in_ctypes(example):
    folder, wanted = example
    assert run(sys.executable, "-S", "run_ctypes.py", cwd=folder) == wanted


def test_the_header_is_valid_cpp(example):
    folder, _ = example
    if shutil.which("c++") is None:
        pytest.skip("there is no C++ compiler")
    (folder / "uses.cpp").write_text(
        '#include "build/digits.h"\n#include "build/digits.h"\n'
        "int main() { return digits_input_count() == 1 && digits_output_ndim(0) == 2 ? 0 : 1; }\n"
    )
    run(
        "c++",
        "-std=c++11",
        *STRICT,
        "uses.cpp",
        "build/digits.so",
        "-Wl,-rpath,$ORIGIN/build",
        "-o",
        "uses",
        cwd=folder,
    )
    run("./uses", cwd=folder)


def test_object_files_of_two_models_in_one_program(tmp_path, monkeypatch):
    (tmp_path / "none").mkdir()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path / "none"))
        for name, function in (("up", lambda x: x + 1), ("down", lambda x: x - 1)):
            with pytest.warns(UserWarning, match="no linker is found"):
                paddle.jit.save(function, str(tmp_path / name), input_spec=[InputSpec([2])], format="native")
    (tmp_path / "both.c").write_text(
        '#include <stdio.h>\n#include "up.h"\n#include "down.h"\n'
        "int main(void) {\n"
        "  float x[2] = {1, 2}, y[2], z[2];\n"
        "  vitrify_array a = {x, sizeof x, VITRIFY_FLOAT32, 1, {2}}, b = {y, sizeof y, 0, 0, {0}},\n"
        "                c = {z, sizeof z, 0, 0, {0}};\n"
        "  if (up_run(&a, 1, &b, 1) || down_run(&a, 1, &c, 1)) return 1;\n"
        '  printf("%g %g %g %g\\n", y[0], y[1], z[0], z[1]);\n'
        "  return 0;\n}\n"
    )
    run("cc", *STRICT, "both.c", "up.o", "down.o", "-lmvec", "-lm", "-o", "both", cwd=tmp_path)
    assert run("./both", cwd=tmp_path) == "2 3 0 1\n"


def test_names_that_c_does_not_know(tmp_path):
    spec = InputSpec([2], name='odd */ "name"')
    paddle.jit.save(lambda x: x * 2, str(tmp_path / "1st-model.v2"), input_spec=[spec], format="native")
    (tmp_path / "uses.c").write_text(
        '#include <stdio.h>\n#include "1st-model.v2.h"\n'
        "int main(void) { puts(_1st_model_v2_input_name(0)); return 0; }\n"
    )
    run("cc", *STRICT, "uses.c", "1st-model.v2.so", "-Wl,-rpath,$ORIGIN", "-o", "uses", cwd=tmp_path)
    assert run("./uses", cwd=tmp_path) == 'odd */ "name"\n'
