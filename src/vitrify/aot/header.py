"""The C header of a native program: what it takes and gives, and its functions."""

from __future__ import annotations

from collections.abc import Sequence

from ..codegen.ahead.abi import DTYPES, MOST_DIMS
from ..codegen.ahead.program import Compiled, Port

_COMMON = f"""\
#ifndef VITRIFY_NATIVE_ABI
#define VITRIFY_NATIVE_ABI 1

/* An array: elements side by side in C order. Of an output `data` and `bytes` say where there is room for how much;
   the rest is filled in. One whose shape only the run
   knows may have NULL there: it gets memory, which _free gives back. */
typedef struct vitrify_array {{
    void *data;
    int64_t bytes;
    int32_t dtype;
    int32_t ndim;
    int64_t shape[{MOST_DIMS}];
}} vitrify_array;

enum {{
@DTYPES@
}};

enum {{
    VITRIFY_OK = 0,
    VITRIFY_ARGUMENT = 1, /* a null pointer, or another number of arrays */
    VITRIFY_DTYPE = 2,
    VITRIFY_SHAPE = 3,
    VITRIFY_ROOM = 4,   /* fewer bytes than an array's elements take */
    VITRIFY_MEMORY = 5, /* not enough of it */
    VITRIFY_VALUE = 6,  /* an index or label outside of what it numbers */
    VITRIFY_RAISED = 7  /* an assertion does not hold, or the program raises: the text begins with Python's class */
}};

#endif
"""
_FUNCTIONS = """\
int64_t @_input_count(void);
const char *@_input_name(int64_t i);      /* NULL where there is none */
int32_t @_input_dtype(int64_t i);         /* -1 where there is none */
int32_t @_input_ndim(int64_t i);
const int64_t *@_input_shape(int64_t i);  /* -1 for a size that may vary */
int64_t @_output_count(void);
const char *@_output_name(int64_t i);
int32_t @_output_dtype(int64_t i);
int32_t @_output_ndim(int64_t i);
const int64_t *@_output_shape(int64_t i);

/* Compute the outputs. 0, or what is wrong: @_last_error says it in words. Any thread may call it at any time;
   outputs may not lie where inputs do. */
int32_t @_run(const vitrify_array *inputs, int64_t n_inputs, vitrify_array *outputs, int64_t n_outputs);

/* Fill in the outputs' dtypes and shapes for inputs of these shapes, without data. */
int32_t @_shapes(const vitrify_array *inputs, int64_t n_inputs, vitrify_array *outputs, int64_t n_outputs);

/* What went wrong in this thread's last call; "" after one that went well. */
const char *@_last_error(void);

/* How many threads a run may use from now on, the caller's among them: 1 unless this says more. All functions of a
   library share them, and the results do not depend on it. 0, or VITRIFY_ARGUMENT below 1. */
int32_t @_set_threads(int32_t threads);

/* Give back the memory that is kept for the next run. */
void @_release(void);

/* Give back what a run has made for an output whose `data` was NULL. */
void @_free(void *data);
"""


def header_text(prefix: str, programs: Sequence[tuple[str, Compiled]], names: Sequence[str]) -> str:
    """The header: of C and of C++."""
    guard = f"VITRIFY_{prefix.upper()}_H"
    codes = ",\n".join(f"    VITRIFY_{name.upper()} = {i}" for i, name in enumerate(DTYPES))
    parts = [_of_program(own, program, name) for (own, program), name in zip(programs, names)]
    return (
        f"/* {prefix}: a program compiled by vitrify. Link with -lm, and on Linux -lmvec and -lpthread. */\n"
        f'#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
        + _COMMON.replace("@DTYPES@", codes)
        + "\n"
        + "\n".join(parts)
        + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"
    )


def _of_program(prefix: str, program: Compiled, name: str) -> str:
    lines = [f"/* {_safe(name)}"]
    for kind, ports in (("takes", program.inputs), ("gives", program.outputs)):
        lines += [f"   {kind} {i}: {_shown(port)}" for i, port in enumerate(ports)]
    return "\n".join(lines) + " */\n" + _FUNCTIONS.replace("@", prefix)


def _shown(port: Port) -> str:
    return _safe(f"{port.name}, {port.dtype}[{', '.join(map(str, port.shape))}]")


def _safe(text: str) -> str:
    """The text as a comment may hold it."""
    return text.replace("*/", "* /").replace("\n", " ").replace("/*", "/ *").replace("\\", "/")
