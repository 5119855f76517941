"""Tests of envs of tuerme."""
