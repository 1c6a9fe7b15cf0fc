"""Speeds on this machine: `python -m benchmarks`."""
