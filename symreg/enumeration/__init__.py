"""Small expressions, built bottom-up without omission, and short sums of them."""
