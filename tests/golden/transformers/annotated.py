# fmt: off
# ruff: noqa
def annotated(x: 'Tensor', *, k: int = 3, name: str | None = None) -> 'Tensor':
    a = b = x

    class Scale:
        def of(self, v: 'Tensor' = x) -> 'Tensor':
            return v * k
    return vt.convert_call(vt.convert_call(Scale)().of)(a) + b
