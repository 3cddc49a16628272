"""Train sequence models on trajectories and read off the force that they learned."""
