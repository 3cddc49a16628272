"""Turn force samples into a formula, and compare the formula with the laws of physics."""
