"""Programs as text that several tests read."""

FACTORIAL = """\
program

block 0 (%n : int64[]) -> (%factorial_0) {
  %factorial_0 : int64[] = call(%n) {function=@factorial}
}

function @factorial = block 1 (%n : int64[]) -> (%if_0) {
  %less_equal_0 : bool[] = less_equal(%n, 1)
  %if_0 : int64[] = if(%less_equal_0, %n)
    then = block 2 (^%n : int64[]) -> (%n) {
    }
    orelse = block 3 (^%n : int64[]) -> (%multiply_0) {
      %subtract_0 : int64[] = subtract(%n, 1)
      %factorial_0 : int64[] = call(%subtract_0) {function=@factorial}
      %multiply_0 : int64[] = multiply(%n, %factorial_0)
    }
}
"""
