"""Execution of programs: scopes, lowering to instructions, the interpreter. Knows nothing of Tensor or autograd."""
