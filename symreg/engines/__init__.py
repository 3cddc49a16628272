"""Search engines behind one contract (`base`), and the choice among them (`choice`)."""
