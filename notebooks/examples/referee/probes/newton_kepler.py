"""Newton against Kepler: is the force decoded better than the ellipse?"""

from base import LINEAR, Network, Probe


def score(network: Network) -> float:
    """R² for the force less R² for the ellipse (semi-major axis and the Laplace-Runge-Lenz vector),
    each the best layer's and the mean of its numbers."""
    r2 = network.read(LINEAR)
    force = (r2["trained_force_x"] + r2["trained_force_y"]) / 2
    ellipse = (r2["trained_semi_major_axis"] + r2["trained_lrl_x"] + r2["trained_lrl_y"]) / 3
    return force - ellipse


PROBE = Probe(
    "linear probe, Newton − Kepler",
    "Liu et al., arXiv:2602.06923: a Newtonian network has the force in its layers, a Keplerian "
    "one the ellipse; ridge, 300 states",
    score,
    line=0.0,
)
