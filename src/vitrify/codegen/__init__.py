"""Machine code for fused operators: LLVM IR made from their scalar expressions, compiled by llvmlite (D8)."""
