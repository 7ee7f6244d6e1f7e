"""What a program read of the user's Python state, so that a later call knows whether it still holds."""
