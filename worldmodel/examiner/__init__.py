"""The examiner: states from a stated density, several pasts behind them, bare contexts, one table.

A predictor of the next position is asked for nothing but that. The states are drawn anew for every
examination, and the number that they were drawn with is written beside the result. Every reading is
of a bare context, as a data file would hold it, in batches of random sizes and mixtures. All that
is said of a model's force is computed from the table of its answers (`examiner.answers`).
"""
