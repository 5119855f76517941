"""Environments: what the kernels' games look like from Python."""
