"""Newton against Kepler: is the force decoded better than the ellipse?"""

from base import LINEAR, Network, Probe


def score(network: Network) -> float:
    """Newtonian score less Keplerian score: R² of the best layer, averaged over the size and the
    components of the force, and over both semi-axes and the Laplace-Runge-Lenz vector."""
    r2 = network.read(LINEAR)

    def mean(*names: str) -> float:
        return sum(r2[f"trained_{name}"] for name in names) / len(names)

    newtonian = mean("force", "force_x", "force_y")
    return newtonian - mean("semi_major_axis", "semi_minor_axis", "lrl_x", "lrl_y")


PROBE = Probe(
    "linear probe, Newton − Kepler",
    "Liu et al., arXiv:2602.06923: a Newtonian network has the force in its layers, a Keplerian "
    "one the ellipse; the scores of the authors' code (KindXiaoming/newton-kepler, commit d1e37bd, "
    "Fig. 6), which fits and judges on the same states by least squares; here ridge on 300 states, "
    "cross-validated over orbits",
    score,
    threshold=0.0,
)
