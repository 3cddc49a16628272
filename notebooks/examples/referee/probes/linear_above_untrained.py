"""Linear probe of the force, beyond what the untrained network already gives."""

from base import LINEAR, Network, Probe


def score(network: Network) -> float:
    """R² for the force less that of the same network with fresh weights."""
    r2 = network.read(LINEAR)
    return sum(r2[f"trained_force_{axis}"] - r2[f"untrained_force_{axis}"] for axis in "xy") / 2


PROBE = Probe(
    "linear probe − untrained", "the usual control of a linear probe; ridge, 300 states", score
)
