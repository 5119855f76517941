"""Fuzzing: foreign data of every kind, by a command of its own (`-m fuzz`, CONTRIBUTING.md)."""
