"""Mutation testing of the kernels with Cosmic Ray: whether tests notice a broken rule
(docs/mutation-testing.md).
"""
