"""The projection search: every product of powers and a few functions, and every short sum."""
