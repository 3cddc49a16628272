"""Reading off what a model has learned."""
