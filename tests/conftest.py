"""Puts `tests/` on the import path: `from env import …` works in every test."""
