"""What is growing too large, for people to think about: `make check` prints it, nothing fails because of it."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

PACKAGE = Path(__file__).parent.parent / "src" / "vitrify"
LONG_FILE, LONG_FUNCTION, WIDE_CLASS = 300, 40, 20


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def public_methods(node: ast.ClassDef) -> int:
    return sum(isinstance(item, ast.FunctionDef) and not item.name.startswith("_") for item in node.body)


def remarks(name: str, text: str, tree: ast.AST) -> Iterator[str]:
    """Yield a line for each thing in a file that is larger than it should be."""
    lines = text.count("\n")
    if lines > LONG_FILE:
        yield f"{name}: {lines} lines"
    for function in functions(tree):
        if length(function) > LONG_FUNCTION:
            yield f"{name}:{function.lineno} {function.name}: {length(function)} lines"
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and public_methods(node) > WIDE_CLASS:
            yield f"{name}:{node.lineno} {node.name}: {public_methods(node)} public methods"


def main() -> None:
    sizes: list[int] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.stem.endswith("_pb2"):
            continue
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        sizes += map(length, functions(tree))
        for remark in remarks(path.relative_to(PACKAGE).as_posix(), text, tree):
            print(remark)
    print(f"{len(sizes)} functions: median {median(sizes):.0f} lines, 90th percentile {quantiles(sizes, n=10)[-1]:.0f}")


if __name__ == "__main__":
    main()
