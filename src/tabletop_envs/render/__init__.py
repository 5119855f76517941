"""Drawings of the games, made from snapshots alone."""
