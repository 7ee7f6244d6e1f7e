"""Vitrify: eager tensors with autograd, and Python functions turned into static programs."""
