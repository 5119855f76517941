"""The rules of tuerme."""
