"""One body as observers see it: places on the sky, radial velocities, and what must pull at it."""
