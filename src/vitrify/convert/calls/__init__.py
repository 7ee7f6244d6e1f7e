"""What a call in converted code calls: user functions, builtins, classes, generators and libraries."""
