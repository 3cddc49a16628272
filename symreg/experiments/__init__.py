"""One experiment from simulated orbits to a report: `symreg run`."""
