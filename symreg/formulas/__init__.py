"""Formulas: parsing, normal form, reference laws, units, and whether two are the same law."""
