"""What values are while a program is built: tensors, Python values that wait for the run, values of several kinds."""
