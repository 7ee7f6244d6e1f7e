"""The rules that hold for every file of the package: who imports whom, who may touch what. See CONTRIBUTING.md."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
PACKAGE = SOURCE / "vitrify"
MAX_LINES = 600

# Which folders of vitrify a folder may import, besides itself. Every arrow points to a lower level.
_LEVEL_0 = {"core"}
_LEVEL_1 = {"device", "ops", "profiler", "transformers"}
_LEVEL_2 = {"eager", "ir"}
_LEVEL_3 = {"convert", "passes", "autodiff", "codegen"}
_LEVEL_4 = {"runtime"}
# `regularizer` is a file, for Paddle has that name at the top: plain data that layers and optimizers read.
_LEVEL_5 = {"jit", "static", "regularizer"}
_LEVEL_6 = {"aot", "autograd", "fft", "linalg", "signal", "tensor", "framework", "nn", "optimizer", "amp", "io"}
_LEVEL_6 |= {"distribution", "geometric", "hub", "metric", "pir", "utils", "version"}
_LEVEL_6 |= {"cuda", "functional", "random", "special"}  # second paths
_LEVEL_7 = {"audio", "base", "hapi", "incubate", "vision", "onnx", "inference", "paddle_program", "distributed", "text"}
_LEVEL_7 |= {"dataset", "quantization", "sparse"}
_LEVEL_8 = {"callbacks", "compat", "tools", "testing"}
LEVELS = [_LEVEL_0, _LEVEL_1, _LEVEL_2, _LEVEL_3, _LEVEL_4, _LEVEL_5, _LEVEL_6, _LEVEL_7, _LEVEL_8]
BELOW_5 = set[str]().union(*LEVELS[:5])
BELOW_6 = set[str]().union(*LEVELS[:6])
BELOW_7 = set[str]().union(*LEVELS[:7])

MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "device": {"core"},
    "ops": {"core"},
    # Knows events, not what runs: what is below and above it notes them on `core.timeline`.
    "profiler": {"core"},
    # Python to Python: knows no tensors, so that it is tested by running its output on plain numbers.
    "transformers": {"core"},
    "eager": {"core", "device", "ops"},
    "ir": {"core", "ops"},
    "convert": {"core", "ops", "ir", "eager", "transformers"},
    "passes": {"core", "ops", "ir"},
    "autodiff": {"core", "ops", "ir"},
    "codegen": {"core", "ops", "ir"},
    # Blind to Tensor and to Python source, so that schedules are tested with plain arrays.
    "runtime": {"core", "device", "ops", "ir", "passes", "codegen"},
    "jit": BELOW_5,
    # `eager` because Executor is fed Tensors and returns them, `convert` because branches and loops written by hand are
    # those of converted code.
    "static": {"core", "device", "ops", "ir", "autodiff", "passes", "runtime", "eager", "convert"},
    "regularizer": {"core"},
    **dict.fromkeys(_LEVEL_6, BELOW_6),
    **dict.fromkeys(_LEVEL_7, BELOW_7),
    **dict.fromkeys(_LEVEL_8, BELOW_7 | _LEVEL_7),
}

# The packages of `convert`, each of which imports those before it.
CONVERT = ("values", "state", "containers", "guards", "control", "host", "operators", "calls")

# Third parties that only these files (globs below src/vitrify) may import, directly or by name.
FENCES: dict[str, set[str]] = {
    "gast": {"transformers/**"},
    "astor": {"transformers/**"},
    "llvmlite": {"codegen/llvm.py", "device/cpu.py"},
    "cupy": {"device/cuda*.py", "core/lazy.py"},
    "cupyx": {"device/cuda*.py"},
    "cudnn": {"device/cuda*.py"},
    "nvmath": {"device/cuda*.py"},
    "google": {"ir/serialize.py", "ir/*_pb2.py", "onnx/reading.py", "paddle_program/reading.py"},
    "onnx": {"onnx/**"},
    "onnxruntime": set(),
    "xxhash": {"ir/content_hash.py"},
    "pickle": {"nn/**", "optimizer/**", "io/**", "jit/**", "transformers/kept_tree.py"},
}

# Calls and names that only these files may use.
USES: dict[str, set[str]] = {
    "eval": set(),
    # Of no text but an empty one: see there.
    "exec": {"transformers/compile.py", "core/interrupts.py"},
    "compile": {"transformers/compile.py"},
    # Settings of ours; and what converted code of the user's reads there.
    "os.environ": {"core/config.py", "convert/guards/environment.py"},
    "os.getenv": {"core/config.py", "convert/guards/environment.py"},
    "os.putenv": set(),
}


@dataclass(frozen=True)
class Import:
    """One imported module, by its full name, and whether the statement stands inside a function."""

    module: str
    line: int
    in_function: bool


def files() -> list[Path]:
    """Return every hand-written source file."""
    return sorted(path for path in PACKAGE.rglob("*.py") if not path.stem.endswith("_pb2"))


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def for_every_file(rule: Callable[[Path], list[str]]) -> Callable[[], None]:
    """Return the test that a rule finds nothing wrong in any file: one each would be eight thousand."""

    @wraps(rule)
    def test() -> None:
        wrong = "\n".join(where(path, found) for path in files() if (found := rule(path)))
        assert not wrong, wrong

    del test.__wrapped__  # or pytest asks for its argument
    return test


@pytest.fixture(autouse=True, scope="module")
def nothing_kept() -> Iterator[None]:
    """Trees of all files are millions of objects, which tests that search for cycles would go over."""
    yield
    tree_of.cache_clear()
    imports_of.cache_clear()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), name_of(path))


def allowed(path: Path, globs: set[str]) -> bool:
    name = name_of(path)
    return any(name.startswith(g[:-2]) if g.endswith("/**") else path.relative_to(PACKAGE).match(g) for g in globs)


def nodes_with_function(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Yield every node below `tree`, with whether it stands inside a function."""
    pending = [(child, False) for child in ast.iter_child_nodes(tree)]
    while pending:
        node, in_function = pending.pop()
        yield node, in_function
        inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        pending += [(child, inside) for child in ast.iter_child_nodes(node)]


def absolute(path: Path, node: ast.ImportFrom) -> str:
    """Return the full name of the module that `from ... import` names in the file at `path`."""
    if not node.level:
        return node.module or ""
    package = path.relative_to(SOURCE).with_suffix("").parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def modules_of(path: Path, node: ast.AST) -> list[str]:
    """Return the full names of the modules that a statement imports, or a call imports by a literal name."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = absolute(path, node)
        # `from .. import core` imports vitrify.core; `from ..core import dtype` may name a module or a value.
        return [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and node.args:
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        argument = node.args[0]
        if called in {"require", "import_module", "__import__"} and isinstance(argument, ast.Constant):
            return [str(argument.value)]
    return []


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    return tuple(
        Import(module, node.lineno, in_function)
        for node, in_function in nodes_with_function(tree_of(path))
        for module in modules_of(path, node)
    )


def is_own(module: str) -> bool:
    return module.split(".")[0] == "vitrify"


def folder_of(module: str) -> str:
    """Return the row of MAY_IMPORT that one of our modules belongs to; the package itself has none: ''."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else ""


def where(path: Path, found: list[str]) -> str:
    return "\n".join(f"{name_of(path)}:{line}" for line in found)


def test_every_folder_has_a_level():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.rglob("*.py"))}
    assert folders <= set(MAY_IMPORT), "a new folder needs a row in MAY_IMPORT"


def test_the_table_itself_points_downwards():
    level = {folder: number for number, folders in enumerate(LEVELS) for folder in folders}
    assert set(level) == set(MAY_IMPORT)
    assert all(level[target] < level[folder] for folder, targets in MAY_IMPORT.items() for target in targets)


@for_every_file
def test_imports_point_downwards(path):
    folder = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if folder not in MAY_IMPORT:
        return []  # the top level sees everything
    reachable = MAY_IMPORT[folder] | {folder}
    return [
        f"{i.line} {folder}/ may not import {i.module}; it may import {sorted(reachable)}"
        for i in imports_of(path)
        if is_own(i.module) and folder_of(i.module) not in reachable
    ]


@pytest.mark.parametrize("package", CONVERT)
def test_the_packages_of_convert_import_those_before_them(package):
    later = CONVERT[CONVERT.index(package) + 1 :]
    wrong = {
        path: [
            f"{i.line} {i.module}"
            for i in imports_of(path)
            if i.module.startswith("vitrify.convert.") and i.module.split(".")[2] in later
        ]
        for path in sorted((PACKAGE / "convert" / package).glob("*.py"))
    }
    assert not any(wrong.values()), "\n".join(where(path, found) for path, found in wrong.items() if found)


def test_convert_has_no_other_packages():
    assert {path.parent.name for path in (PACKAGE / "convert").glob("*/*.py")} == set(CONVERT)


@for_every_file
def test_our_own_modules_are_imported_at_the_top(path):
    hidden = [i for i in imports_of(path) if is_own(i.module) and i.in_function]
    return [f"{i.line} imports {i.module} in a function" for i in hidden]


@for_every_file
def test_third_parties_stay_behind_their_fences(path):
    return [
        f"{i.line} only {sorted(FENCES[package])} may import {package}"
        for i in imports_of(path)
        if (package := i.module.split(".")[0]) in FENCES and not allowed(path, FENCES[package])
    ]


def used_name(node: ast.AST) -> str:
    """Return `os.environ` for that expression and `eval` for a call of that builtin; '' for most nodes."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id
    return ""


@for_every_file
def test_dangerous_tools_have_one_user(path):
    return [
        f"{node.lineno} {name} is for {sorted(USES[name]) or 'nobody'}"
        for node in ast.walk(tree_of(path))
        if (name := used_name(node)) in USES and not allowed(path, USES[name])
    ]


@for_every_file
def test_no_mode_is_a_global(path):
    found = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Global)]
    return [f"{node.lineno} global {', '.join(node.names)}" for node in found]


@for_every_file
def test_files_stay_readable(path):
    lines = path.read_text(encoding="utf-8").count("\n")
    return [f"{MAX_LINES} has {lines} lines: split it"] if lines > MAX_LINES else []


@for_every_file
def test_every_module_says_what_it_is(path):
    tree = tree_of(path)
    return ["1 has no docstring"] if tree.body and not ast.get_docstring(tree) else []


@pytest.mark.parametrize(("number", "level"), list(enumerate(LEVELS)))
def test_the_map_names_every_package_on_its_level(number, level):
    page = (SOURCE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {number} |")]
    there = {name for name in level if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists()}
    assert there <= set(re.findall(r"`(\w+)`", row.split("|")[2]))
