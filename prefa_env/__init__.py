"""Prefa, compiled with Numba: one table for PettingZoo, many tables for training."""
