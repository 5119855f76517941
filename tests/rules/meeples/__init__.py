"""The rules of meeples."""
