"""Tests of envs of meeples."""
