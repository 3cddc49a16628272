"""Tasks that cannot be solved without remembering something far back."""
