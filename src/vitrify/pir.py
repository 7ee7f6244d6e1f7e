"""`paddle.pir`: what programs are made of, under the names that model code tests its values with.

There is one kind of programs, so these are its classes. A tensor of eager code is no `Value`.
"""

from .ir.program import Block, Operator, Program
from .ir.variable import Variable

Operation = Operator
Value = Variable

__all__ = ["Block", "Operation", "Program", "Value"]
