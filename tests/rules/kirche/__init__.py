"""The rules of kirche."""
