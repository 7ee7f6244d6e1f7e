"""What calls kernels: a loop of NumPy's ufunc machinery, compiled once for all kernels.

    void loop(char **arguments, intp *size, intp *steps, intp *kernel)

NumPy checks dtypes, broadcasts, merges dimensions, allocates results and lets other threads run; the loop gets one
dimension of it. Where all operands are contiguous it hands the whole vectors to the kernel's function at once.
Otherwise it goes block by block: operands that are not contiguous, and the elements behind the last whole vector, are
copied into small buffers, computed there and copied back; one that is the same element everywhere is copied once. So
each element goes through the same instructions wherever it stands, and its result never depends on the size of the
array.
"""

from __future__ import annotations

import numpy as np

from .pointwise import Signature

# Elements that the buffer of one operand holds, and bytes of all of them together.
_BLOCK, _STACK = 256, 1 << 15
_HEAD, _EACH = 6, 3


def description(signature: Signature, lanes: int, functions: list[int]) -> np.ndarray:
    """What the loop knows of a kernel, as integers: counts, functions, and for each operand its size in bytes, its step
    in the second function, and where its buffer begins.
    """
    sizes = [d.itemsize for d in signature.dtypes]
    block = _BLOCK
    while block > lanes and block * sum(sizes) > _STACK:
        block //= 2
    steps = [0 if i < len(signature.inputs) and signature.variants[-1][i] else s for i, s in enumerate(sizes)]
    starts = np.cumsum([0, *[block * s for s in sizes]])
    head = [len(sizes), len(signature.inputs), lanes, block, functions[0], functions[-1]]
    each = [value for triple in zip(sizes, steps, starts.tolist()) for value in triple]
    return np.array(head + each, np.int64)


def harness_ir() -> str:
    """The LLVM IR of the loop."""
    copies = [_COPY.format(size=s, type=f"i{8 * s}") for s in (1, 2, 4, 8)]
    return "\n".join([_LOOP.replace("STACK", str(_STACK)), *copies])


def for_numpy_ir(is_x86: bool) -> str:
    """The functions `for_numpy` and `rows_for_numpy`: loops of ufuncs as NumPy calls them. The first is `loop`, the
    second the function whose address lies where its data do.

    What was computed and not chosen may have raised flags of the processor, of which NumPy would warn. Clearing them
    takes as long as a short loop, so who calls loops without NumPy, which looks at none that were raised before its own
    calls, calls them without this.
    """
    clear = _CLEAR_FLAGS if is_x86 else ""
    pairs = ((FOR_NUMPY, "", "@loop"), (ROWS_FOR_NUMPY, "  %rows = load ptr, ptr %data\n", "%rows"))
    loops = [_FOR_NUMPY.format(name=name, found=found, loop=loop, clear=clear) for name, found, loop in pairs]
    return "".join([*loops, _DECLARED if is_x86 else ""])


FOR_NUMPY, ROWS_FOR_NUMPY = "for_numpy", "rows_for_numpy"
_FOR_NUMPY = """
define void @{name}(ptr %arguments, ptr %sizes, ptr %steps, ptr %data) {{
{found}  call void {loop}(ptr %arguments, ptr %sizes, ptr %steps, ptr %data) noinline
{clear}  ret void
}}
"""
_DECLARED = """\
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)"""
_CLEAR_FLAGS = """\
  %csr = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %csr)
  %flags = load i32, ptr %csr
  %clear = and i32 %flags, -64
  store i32 %clear, ptr %csr
  call void @llvm.x86.sse.ldmxcsr(ptr %csr)
"""


_GATHER = "call void @gather{size}(ptr %g.buffer, ptr %g.from, i64 %g.step, i64 %length, i64 %padded)"
_SCATTER = "call void @scatter{size}(ptr %s.to, ptr %s.buffer, i64 %s.step, i64 %length)"


def _by_size(label: str, call: str, behind: str) -> str:
    """A block for each size of an element, which calls the function for it and goes on `behind`."""
    return "\n".join(f"{label}{n}:\n  {call.format(size=n)}\n  br label %{behind}" for n in (1, 2, 4, 8))


_LOOP = f"""
define void @loop(ptr %arguments, ptr %sizes, ptr %steps, ptr %kernel) {{
entry:
  %pointers = alloca [64 x ptr]
  %buffers = alloca [STACK x i8], align 64
  %n = load i64, ptr %sizes
  %operands = load i64, ptr %kernel
  %inputs.at = getelementptr i64, ptr %kernel, i64 1
  %inputs = load i64, ptr %inputs.at
  %lanes.at = getelementptr i64, ptr %kernel, i64 2
  %lanes = load i64, ptr %lanes.at
  %block.at = getelementptr i64, ptr %kernel, i64 3
  %block = load i64, ptr %block.at
  %compute0.at = getelementptr i64, ptr %kernel, i64 4
  %compute0 = load ptr, ptr %compute0.at
  %compute1.at = getelementptr i64, ptr %kernel, i64 5
  %compute1 = load ptr, ptr %compute1.at
  %mask = sub i64 0, %lanes
  %whole = and i64 %n, %mask
  br label %look

look:  ; are the steps those of one of the functions?
  %k = phi i64 [0, %entry], [%k.next, %look]
  %fits0 = phi i1 [true, %entry], [%fits0.next, %look]
  %fits1 = phi i1 [true, %entry], [%fits1.next, %look]
  %each = mul i64 %k, {_EACH}
  %size.in = add i64 %each, {_HEAD}
  %size.at = getelementptr i64, ptr %kernel, i64 %size.in
  %size = load i64, ptr %size.at
  %fixed.at = getelementptr i64, ptr %size.at, i64 1
  %fixed = load i64, ptr %fixed.at
  %step.at = getelementptr i64, ptr %steps, i64 %k
  %step = load i64, ptr %step.at
  %same0 = icmp eq i64 %step, %size
  %same1 = icmp eq i64 %step, %fixed
  %fits0.next = and i1 %fits0, %same0
  %fits1.next = and i1 %fits1, %same1
  %argument.at = getelementptr ptr, ptr %arguments, i64 %k
  %argument = load ptr, ptr %argument.at
  %pointer.at = getelementptr ptr, ptr %pointers, i64 %k
  store ptr %argument, ptr %pointer.at
  %k.next = add i64 %k, 1
  %k.more = icmp ult i64 %k.next, %operands
  br i1 %k.more, label %look, label %looked

looked:
  %fits = or i1 %fits0.next, %fits1.next
  %some = icmp ne i64 %whole, 0
  %direct = and i1 %fits, %some
  br i1 %direct, label %run, label %rest

run:
  %chosen = select i1 %fits0.next, ptr %compute0, ptr %compute1
  call void %chosen(i64 %whole, ptr %pointers)
  br label %rest

rest:
  %first = phi i64 [0, %looked], [%whole, %run]
  %any = icmp ult i64 %first, %n
  br i1 %any, label %part, label %done

part:
  %at = phi i64 [%first, %rest], [%at.next, %scattered]
  %left = sub i64 %n, %at
  %many = icmp ugt i64 %left, %block
  %length = select i1 %many, i64 %block, i64 %left
  %up.by = sub i64 %lanes, 1
  %up = add i64 %length, %up.by
  %padded = and i64 %up, %mask
  %is.whole = icmp eq i64 %length, %padded
  %is.later = icmp ne i64 %at, %first
  br label %gather

gather:
  %g = phi i64 [0, %part], [%g.next, %gathered]
  %g.each = mul i64 %g, {_EACH}
  %g.in = add i64 %g.each, {_HEAD}
  %g.size.at = getelementptr i64, ptr %kernel, i64 %g.in
  %g.size = load i64, ptr %g.size.at
  %g.start.at = getelementptr i64, ptr %g.size.at, i64 2
  %g.start = load i64, ptr %g.start.at
  %g.buffer = getelementptr i8, ptr %buffers, i64 %g.start
  %g.pointer.at = getelementptr ptr, ptr %pointers, i64 %g
  %g.step.at = getelementptr i64, ptr %steps, i64 %g
  %g.step = load i64, ptr %g.step.at
  %g.argument.at = getelementptr ptr, ptr %arguments, i64 %g
  %g.argument = load ptr, ptr %g.argument.at
  %g.offset = mul i64 %at, %g.step
  %g.from = getelementptr i8, ptr %g.argument, i64 %g.offset
  %g.same = icmp eq i64 %g.step, %g.size
  %g.lies = and i1 %g.same, %is.whole
  %g.place = select i1 %g.lies, ptr %g.from, ptr %g.buffer
  store ptr %g.place, ptr %g.pointer.at
  %g.one = icmp eq i64 %g.step, 0
  %g.again = and i1 %g.one, %is.later
  %g.ready = or i1 %g.lies, %g.again
  %g.reads = icmp ult i64 %g, %inputs
  %g.lacks = xor i1 %g.ready, true
  %g.copies = and i1 %g.reads, %g.lacks
  br i1 %g.copies, label %copy, label %gathered
copy:
  switch i64 %g.size, label %copy8 [ i64 1, label %copy1  i64 2, label %copy2  i64 4, label %copy4 ]
{_by_size("copy", _GATHER, "gathered")}
gathered:
  %g.next = add i64 %g, 1
  %g.more = icmp ult i64 %g.next, %operands
  br i1 %g.more, label %gather, label %compute

compute:
  call void %compute0(i64 %padded, ptr %pointers)
  br label %scatter

scatter:
  %s = phi i64 [%inputs, %compute], [%s.next, %back]
  %s.each = mul i64 %s, {_EACH}
  %s.in = add i64 %s.each, {_HEAD}
  %s.size.at = getelementptr i64, ptr %kernel, i64 %s.in
  %s.size = load i64, ptr %s.size.at
  %s.pointer.at = getelementptr ptr, ptr %pointers, i64 %s
  %s.buffer = load ptr, ptr %s.pointer.at
  %s.step.at = getelementptr i64, ptr %steps, i64 %s
  %s.step = load i64, ptr %s.step.at
  %s.argument.at = getelementptr ptr, ptr %arguments, i64 %s
  %s.argument = load ptr, ptr %s.argument.at
  %s.offset = mul i64 %at, %s.step
  %s.to = getelementptr i8, ptr %s.argument, i64 %s.offset
  %s.same = icmp eq i64 %s.step, %s.size
  %s.lies = and i1 %s.same, %is.whole
  br i1 %s.lies, label %back, label %write
write:
  switch i64 %s.size, label %back8 [ i64 1, label %back1  i64 2, label %back2  i64 4, label %back4 ]
{_by_size("back", _SCATTER, "back")}
back:
  %s.next = add i64 %s, 1
  %s.more = icmp ult i64 %s.next, %operands
  br i1 %s.more, label %scatter, label %scattered

scattered:
  %at.next = add i64 %at, %length
  %at.more = icmp ult i64 %at.next, %n
  br i1 %at.more, label %part, label %done

done:
  ret void
}}
"""
_COPY = """\
define internal void @gather{size}(ptr %to, ptr %from, i64 %step, i64 %count, i64 %padded) noinline {{
entry:
  %last = sub i64 %count, 1
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %past = icmp ugt i64 %i, %last
  %source = select i1 %past, i64 %last, i64 %i  ; the last element again fills up the vector
  %offset = mul i64 %source, %step
  %p = getelementptr i8, ptr %from, i64 %offset
  %v = load {type}, ptr %p, align {size}
  %q = getelementptr {type}, ptr %to, i64 %i
  store {type} %v, ptr %q, align {size}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %padded
  br i1 %more, label %loop, label %done
done:
  ret void
}}
define internal void @scatter{size}(ptr %to, ptr %from, i64 %step, i64 %count) noinline {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %q = getelementptr {type}, ptr %from, i64 %i
  %v = load {type}, ptr %q, align {size}
  %offset = mul i64 %i, %step
  %p = getelementptr i8, ptr %to, i64 %offset
  store {type} %v, ptr %p, align {size}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
