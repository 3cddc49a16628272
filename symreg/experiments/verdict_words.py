"""The verdict on a world model in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orbits.whole_field import PARTS
from symreg.experiments.verdict import (
    ANOTHER,
    COPIERS,
    DEPARTURES,
    INJECTED,
    INTERPOLATOR,
    KEPLERIAN,
    KICK,
    NEWTONIAN,
    PARROT,
    UNTRAINED,
    WorldModelKind,
)
from symreg.recovery.gates import Gate
from symreg.recovery.words import PERMUTED, fixed, number, percent

OUTSIDE = {"closer in than any orbit": "closer", "farther out": "farther"}
"""States outside the distances of training, up to 1.5 times."""
FAMILIES = ("at rest", "inward", "outward", "slow", "circular", "fast", "unbound")
"""Families of far states, as named in the metrics of `far`."""
RIGHT = 0.1
"""Relative error up to which a family of states is called right."""
NULLS = {PERMUTED: "permuted targets", UNTRAINED: "an untrained network"}
INSTRUMENT = (PERMUTED, UNTRAINED, INJECTED)
"""Gates that test the instrument, not the model."""
NOT_KICKED = "No kicked states were looked at, and nothing else shows which law a model knows."
KINDS = (
    "A Newtonian model knows the force: as soon as its velocity is turned in mid-orbit it is right "
    "again, from the last positions alone; the law comes out of those states; and its acceleration "
    "is the law's on far states too. An interpolator is right after a kick and wrong on far "
    "states: it looks up what it has seen. A model knows another force if its accelerations form "
    "one field that is not the named law's. A Keplerian model knows the shape of orbits: right on "
    "undisturbed ones, wrong one step after a kick and still wrong four steps after it. A parrot "
    "is right and wrong in the same places, but makes a naive copier's errors: it repeats its "
    "context or its training orbits. Anything else is neither."
)
"""What the world-model score means."""


def about_the_model(
    law: str, gates: Sequence[Gate], orbit_r2: float | None, keplerian: bool, poor: float
) -> str:
    """The gates' words on a world model trained under a law.

    `keplerian` is the world-model score's answer; below an R² of `poor` on undisturbed held-out
    orbits predictions are poor even there.
    """
    failed = [gate.name for gate in gates if not gate.passed]
    if not failed:
        names = [gate.name for gate in gates]
        nulls = " or ".join(words for name, words in NULLS.items() if name in names)
        said = [f"does not come out of {nulls}"] if nulls else []
        said += ["does when the true law is injected"] if INJECTED in names else []
        controls = f" It {', but '.join(said)}." if said else ""
        return (
            f"The model believes in {law}: the law comes out of states whose velocity was turned "
            f"in mid-orbit.{controls}"
        )
    instrument = sorted(set(INSTRUMENT) & set(failed))
    if instrument:
        return (
            "No conclusion about the model: the instrument failed its own controls "
            f"({', '.join(instrument)})."
        )
    kicks = [name for name in failed if name.startswith(KICK)]
    not_recovered = f"{law[:1].upper()}{law[1:]} is not recovered."
    if kicks and keplerian and orbit_r2 is not None:
        return (
            f"On held-out orbits the implied accelerations look like {law}"
            f" (R² = {orbit_r2:.3f}), but they do not follow the force once the velocity is "
            "turned in mid-orbit: the model has learned the shape of the orbits, as Kepler did, "
            f"not a law of force. {not_recovered}"
        )
    if kicks and orbit_r2 is not None and orbit_r2 < poor:
        return (
            "The implied accelerations are poor even on held-out orbits "
            f"(R² = {number(orbit_r2)}): the model has learned no law of force. {not_recovered}"
        )
    if kicks:
        return (
            "Once the velocity is turned in mid-orbit the model does not follow the force as "
            f"closely as required ({', '.join(kicks)}). {not_recovered}"
        )
    return (
        f"The model follows a force after a kick, but {law} is not recovered from it: "
        f"{', '.join(failed)} failed."
    )


def about_the_kind(found: WorldModelKind) -> str:
    """The world-model score in a sentence."""
    if found.kind == NEWTONIAN:
        return "Right after a kick and on far states: it knows the force."
    if found.kind == INTERPOLATOR:
        return "Right near its training orbits, wrong on far states: it interpolates."
    if found.kind == ANOTHER:
        unlike = [gate.name for gate in found.newtonian if gate.passed is False]
        return f"Its accelerations form one field, but not the named law's: {', '.join(unlike)}."
    if found.kind == KEPLERIAN:
        return "Right on undisturbed orbits, wrong after a kick: it knows the shape of orbits."
    if found.kind == PARROT:
        remembers = any(COPIERS["training_copier"] in gate.name for gate in found.parrot)
        whose = "its training orbits" if remembers else "the context"
        return f"Right and wrong as a naive copier of {whose} is: it repeats."
    soon, late = found.newtonian[:2]
    orbit, lost = found.keplerian[:2]
    if orbit.passed is False:
        return "Its predictions are poor even on undisturbed orbits: it knows neither."
    if lost.passed and late.passed:
        return "Wrong right after a kick, right again four steps later: its memory is short."
    failed = ", ".join(gate.name for gate in found.newtonian if gate.passed is False)
    if soon.passed:
        return f"It follows a force after a kick, but fails elsewhere: {failed}."
    return f"Neither: {failed} below what a known force gives."


@dataclass(frozen=True)
class FarFindings:
    """Findings on far states.

    Where the acceleration is the law's; rows of errors by family of states, and of parts that no
    central force has, header first; departures that would have gone unnoticed.
    """

    region: str
    errors: tuple[tuple[str, ...], ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    limits: str = ""


def about_far_states(
    far: Mapping[str, float | None], found: WorldModelKind | None = None
) -> FarFindings:
    """Where the implied acceleration is right, and what would have gone unnoticed.

    The score is there only if kicked states were used too.
    """
    region, small = (found.region, found.unnoticed) if found else (None, {})
    stems = {name: name.replace(" ", "_") for name in FAMILIES} | OUTSIDE
    known = {name: stem for name, stem in stems.items() if far.get(f"{stem}_error") is not None}
    if not known:
        return FarFindings("No far states were asked: nothing is known beyond the training orbits.")
    said = []
    if region is not None:
        ends = f"{region.start:.2f} to {region.stop:.2f} au"
        said.append(
            f"The acceleration is the law's from {ends}, on {region.share:.0%} of the far states."
        )
    ways = {way: far.get(f"{way}_error") for way in ("anticlockwise", "clockwise")}
    good = [way for way, error in ways.items() if error is not None and error <= RIGHT]
    worst = max((error for error in ways.values() if error is not None), default=0.0)
    if len(good) == 1 and worst > 3 * RIGHT:
        said.append(f"It is right for bodies that move {good[0]}, and wrong for the others.")
    ends = f"{fixed(far.get('closest'), 2)} to {fixed(far.get('farthest'), 2)} au"
    errors = [(f"far states, {ends}", "median error", f"within {RIGHT:.0%}", "R²")]
    errors += [
        (
            name, f"{far[f'{stem}_error']:.1%}", percent(far.get(f"{stem}_right"), 0, ""),
            fixed(far.get(f"{stem}_r2"), 3, ""),
        )
        for name, stem in known.items()
    ]  # fmt: skip
    parts = [("part that no central force has", "at most", "would go unnoticed below")]
    for name, what in PARTS.items():
        size, half = far.get(name), far.get(f"{name}_half_width")
        if size is not None and half is not None:
            parts.append((what, f"{size + half:.1%}", percent(small.get(name), 1, "")))
    unseen = [words.format(small[name]) for name, words in DEPARTURES.items() if name in small]
    sizes = [small[name] for name in PARTS if name in small]
    if sizes:
        unseen.append(f"a non-central force below {max(sizes):.1%} of the attraction")
    limits = f"These would go unnoticed: {'; '.join(unseen)}." if unseen else ""
    return FarFindings(" ".join(said), tuple(errors), tuple(parts), limits)


def kicks_in_words(kick_r2: Mapping[str, float | None]) -> str:
    """`0.9997 after 1 step and 0.9998 after 4`."""
    told = [f"{fixed(value)} after {step}" for step, value in kick_r2.items()]
    if told:
        told[0] += " step" if told[0].endswith(" 1") else " steps"
    return " and ".join(told) or "not known"
