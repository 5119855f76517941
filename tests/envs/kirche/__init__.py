"""Tests of envs of kirche."""
