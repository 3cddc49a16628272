"""Fitting formulas to samples: noise, refinement, and the uncertainty of constants."""
