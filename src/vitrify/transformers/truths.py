"""On the tree that is compiled: where `and` and `or` are asked for nothing but their truth, so is each operand, once.

Python jumps by the operand that decides, and does not ask it again: `if a and b` calls `a.__bool__` once. A value that
is kept (`c = a and b`) is one of the operands, whose truth is asked anew by who needs it. The readable form (`fn.code`)
leaves this step out, as it differs for the user's classes only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LOGICAL = frozenset({"convert_and", "convert_or"})
_TESTING = frozenset({"convert_ifelse", "convert_ifexp", "convert_not", "convert_assert"})
"""Helpers whose first argument is a condition."""
_COMPREHENSIONS = frozenset({"list_of", "set_of", "dict_of"})
"""Helpers whose third and later arguments are functions with conditions."""


def ask_truth_once(definition: ast.stmt, helper: str) -> None:
    """Put `vt.truth(x)` for the operands of `and` and `or` in conditions, everywhere in the definition."""
    _Truths(helper).of_conditions(definition)


class _Truths:
    def __init__(self, helper: str) -> None:
        self.helper = helper

    def of_conditions(self, tree: ast.AST) -> None:
        """Change what stands in conditions of a tree."""
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        tests = {c.args[0].id for c in calls if self.name(c) == "convert_while" and isinstance(c.args[0], ast.Name)}
        for call in calls:
            for condition in self._conditions(call):
                self._ask(condition)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name in tests:
                last = node.body[-1]
                if isinstance(last, ast.Return) and last.value is not None:
                    self._ask(last.value)

    def name(self, node: ast.AST) -> str:
        """The name of the helper that is called, if any is."""
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == self.helper:
            return func.attr
        return ""

    def _conditions(self, call: ast.Call) -> Iterator[ast.expr]:
        name = self.name(call)
        if name in _TESTING:
            yield call.args[0]
        elif name in _COMPREHENSIONS:
            yield from (test.body for test in call.args[2:] if isinstance(test, ast.Lambda))

    def _ask(self, condition: ast.expr) -> None:
        if self.name(condition) not in _LOGICAL:
            return
        assert isinstance(condition, ast.Call)
        asked = ast.keyword("asked", ast.copy_location(ast.Constant(True), condition))
        condition.keywords.append(ast.copy_location(asked, condition))
        first, *rest = condition.args
        condition.args[0] = self._truth(first)
        for function in rest:
            assert isinstance(function, ast.Lambda)
            function.body = self._truth(function.body)

    def _truth(self, operand: ast.expr) -> ast.expr:
        name = self.name(operand)
        if name in _LOGICAL:
            self._ask(operand)
        if name in _LOGICAL or name == "convert_not" or isinstance(operand, ast.Constant):
            return operand
        helper = ast.Attribute(ast.Name(self.helper, ast.Load()), "truth", ast.Load())
        call = ast.Call(helper, [operand], [])
        for part in (helper, helper.value, call):
            ast.copy_location(part, operand)
        return call
