"""One file a workload: `TITLE`, and one function a framework (`paddle`, `torch`, `jax`) that returns a `Case`.

`paddle` is given the module to use, so that real Paddle and vitrify run the same lines. Each function imports its
framework itself: no environment has them all. The arrays come from `benchmarks.data`, so that every framework starts
from the same numbers, and the runner compares the values after a few steps.
"""
