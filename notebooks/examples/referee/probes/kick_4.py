"""Four steps after a kick."""

from base import KICK, Network, Probe


def score(network: Network) -> float:
    """The smallest R² one, two and four steps after the velocity was turned."""
    reading = network.read(KICK)
    return min(reading[f"r2_{step}"] for step in (1, 2, 4))


PROBE = Probe("kick, up to four steps", "this project, second edition", score, threshold=0.9)
