"""The moving picture of the home page: the force that two models imply along one kicked orbit.

    python notebooks/examples/home/kick.py kick.html

They are the pair of `two_models.py` with seed 0, on the first held-out orbit.
"""

import argparse

from two_models import pair

import orbits
import worldmodel


def main():
    """Train and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", help="an HTML file")
    parser.add_argument("--orbits", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=3000, help="of the displacement's training")
    options = parser.parse_args()
    made = {"law": "newton", "simulator": "scipy", "progress": False}
    data = orbits.generate(orbits=options.orbits, seed=0, **made)
    held_out = orbits.generate(orbits=options.orbits // 4, seed=1, **made)
    models = pair(data, held_out, options.steps, seed=0)
    named = {f"trained on the {target}": model for target, model in models.items()}
    moving = worldmodel.animate(named, held_out)
    moving.save(options.page)
    for title, error in moving.error.items():
        before, after = (error[moving.step <= 0], error[(moving.step > 0) & (moving.step <= 8)])
        print(
            f"{title}: force off by {100 * max(before):.0f} % at most before the kick, by "
            f"{100 * min(after):.0f} to {100 * max(after):.0f} % in the eight steps after it"
        )


if __name__ == "__main__":
    main()
