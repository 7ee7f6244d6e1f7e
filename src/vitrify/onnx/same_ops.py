"""The ops of ours that are ONNX operators: elementwise, without attributes.

Made by `python -m tests.ops.homes --write` from what the ops say, and compared with it by a test.
"""

from ..core.lazy import read_homes

_HOMES = """
abs: Abs
acos: Acos
acosh: Acosh
add: Add
asin: Asin
asinh: Asinh
atan: Atan
atanh: Atanh
bitwise_and: BitwiseAnd
bitwise_not: BitwiseNot
bitwise_or: BitwiseOr
bitwise_xor: BitwiseXor
ceil: Ceil
clip: Clip
cos: Cos
cosh: Cosh
divide: Div
equal: Equal
erf: Erf
exp: Exp
floor: Floor
greater_equal: GreaterOrEqual
greater_than: Greater
hard_swish: HardSwish
isinf: IsInf
isnan: IsNaN
less_equal: LessOrEqual
less_than: Less
log: Log
logical_and: And
logical_not: Not
logical_or: Or
logical_xor: Xor
maximum: Max
minimum: Min
mish: Mish
multiply: Mul
neg: Neg
pow: Pow
prelu: PRelu
reciprocal: Reciprocal
relu: Relu
round: Round
sigmoid: Sigmoid
sign: Sign
sin: Sin
sinh: Sinh
softsign: Softsign
sqrt: Sqrt
subtract: Sub
tan: Tan
tanh: Tanh
where: Where
"""

SAME = read_homes(_HOMES)
"""Our op by ONNX operator."""
