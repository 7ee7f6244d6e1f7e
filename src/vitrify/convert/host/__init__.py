"""What only the host can do, done when the program runs: prints, checks, NumPy and other libraries."""
