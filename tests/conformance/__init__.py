"""Compares vitrify with PaddlePaddle API by API; `python -m tests.conformance --help`.

Cases are rows of tables, one row an API. To cover another API, add a row to a module of `tests/conformance/tables/`;
to add a table, add a module there that defines `ROWS` and put its name into `tables.NAMES`. A row names the API under
Paddle's path and gives what it is called with; `each(...)` tries several values in one place, `together(...)` several
lists of positional arguments, `t(...)` stands for a tensor of the case's dtype:

    row("paddle.concat", each([t(2, 3), t(4, 3)], [t(2, 3)]), axis=each(unset, 0, -1)).over("float32", "int64")
    row("paddle.nn.functional.linear", t(2, 3), t(3, 4), bias=each(None, t(4)))
    row("paddle.linalg.svd", t(3, 2)).through(rebuilt)  # def rebuilt(paddle, x, **options): any code with the framework
    row("paddle.nn.Linear", t(2, 3)).through(layer_output)  # likewise: make the Layer, fill its parameters, call it

The first dtype of `over` is tried with every choice of arguments (all of them, or a fixed sample of `limited_to`), the
others with a few. Each row of a tensor function is also tried as a method and in place (`Tensor.x`, `Tensor.x_`) where
Paddle has these, and its signature is compared (not so with `through` and `as_function_only`). Outputs, gradients,
changed arguments, `stop_gradient` and errors are compared.

Beside the tables, `tests.conformance.generated` makes cases by rule for every public function, method and Layer.
"""
