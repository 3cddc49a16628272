"""From a table of forces to a law and a verdict."""
