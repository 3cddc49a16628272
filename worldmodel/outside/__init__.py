"""The door: predictors that were not trained here, checked and brought to the read-outs."""
