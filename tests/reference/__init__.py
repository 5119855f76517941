"""Slow, obvious, plain-Python implementations of the rules.

They share no code with the package: the compiled kernels are checked against them.
"""
