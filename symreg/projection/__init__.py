"""The projection search: all products of powers with a few functions, and all short sums."""
