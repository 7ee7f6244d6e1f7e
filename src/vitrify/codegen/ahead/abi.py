"""What callers of a compiled program know: the array of the header, its dtypes by number, and the codes of errors.

A file of its own, so that calling a program imports nothing of what makes one.
"""

# vitrify_array
ARRAY_BYTES, ARRAY_DTYPE, ARRAY_NDIM, ARRAY_SHAPE, ARRAY_SIZE, MOST_DIMS = 8, 16, 20, 24, 88, 8
OK, ARGUMENT, WRONG_DTYPE, WRONG_SHAPE, ROOM, MEMORY, VALUE, RAISED = range(8)
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64",
)  # fmt: skip
