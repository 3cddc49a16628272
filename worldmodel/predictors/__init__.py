"""Who predicts the next position, behind one contract (`base`)."""
