"""What operators and subscripts mean on values of a program."""
