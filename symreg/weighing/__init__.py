"""The law between bodies and their masses, from their positions alone."""
