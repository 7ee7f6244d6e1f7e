"""What others publish about their own support: documented, not measured, and no more than their pages say."""

from __future__ import annotations

FRAMEWORKS = {
    "PaddlePaddle `to_static` (AST mode)": (
        "https://www.paddlepaddle.org.cn/documentation/docs/en/guides/jit/grammar_list_en.html",
    ),
    "TensorFlow AutoGraph": (
        "https://github.com/tensorflow/tensorflow/tree/master/tensorflow/python/autograph/g3doc/reference",
        "https://www.tensorflow.org/guide/function",
    ),
    "`torch.compile`": (
        "https://docs.pytorch.org/docs/stable/torch.compiler_faq.html",
        "https://docs.pytorch.org/docs/stable/cond.html",
    ),
    "`jax.jit`": (
        "https://docs.jax.dev/en/latest/control-flow.html",
        "https://docs.jax.dev/en/latest/errors.html",
        "https://docs.jax.dev/en/latest/external-callbacks.html",
    ),
}

NOT_LISTED = "not listed"
_BREAK = "graph break; error with `fullgraph=True`"
_TRACE = "while tracing only"

PUBLISHED: dict[str, tuple[str, str, str, str]] = {
    "`if` on a tensor": ("yes", "yes", f"{_BREAK}; `torch.cond`", "error; `lax.cond`"),
    "`while` / `for` stopped by a tensor": ("yes", "yes", _BREAK, "error; `lax.while_loop`, `lax.scan`"),
    "`break`, `continue`, early `return`": ("yes", "yes", "yes, if no tensor decides", "yes, if no tensor decides"),
    "variable set on one path only": (NOT_LISTED, "error", "as Python", "both branches of `lax.cond` return it"),
    "types and shapes that change in a loop": (
        NOT_LISTED,
        "dtype no; shape with `shape_invariants`",
        "yes, if no tensor decides",
        "no, the carry is fixed",
    ),
    "lists in a tensor loop": ("`append`, limits on use", "`TensorArray`", "yes, if no tensor decides", "arrays"),
    "`and`, `or`, `not`": ("yes", "yes", "yes", "`jnp.logical_and`, ..."),
    "conditional expression": ("yes", "yes", _BREAK, "`jnp.where`, `lax.cond`"),
    "recursion that a tensor stops": ("no", "no", NOT_LISTED, "no"),
    "exceptions": ("`assert`; not `try` or `raise`", f"`assert`; `try`, `raise` {_TRACE}", "partly", _TRACE),
    "generators and `yield`": (NOT_LISTED, "not converted", "partly", _TRACE),
    "attributes changed": ("with limits", "with limits under control flow", "yes", "no side effects (pure functions)"),
    "`print` of a tensor": ("yes", "yes", _BREAK, "`jax.debug.print`"),
    "`.numpy()` / `.item()`": ("limited", "`tf.py_function`", _BREAK, "error; `jax.pure_callback`"),
    "in-place change of a tensor": ("with limits", "`tf.Variable`", "yes", "no; `x.at[i].set(v)`"),
    "gradient through a loop that a tensor stops": (
        "yes",
        "yes",
        "eager parts, through the tape",
        "not in reverse mode",
    ),
    "source text needed": ("yes", "yes", "no, it reads bytecode", "no, it traces"),
}
"""By feature: in the order of FRAMEWORKS."""
