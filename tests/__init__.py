"""The tests, and the rules once more as a reference."""
