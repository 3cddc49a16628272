"""Grids of runs that answer one question: `symreg study`."""
