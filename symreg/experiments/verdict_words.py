"""The verdict on a world model in words: each sentence says a number by the name it has."""

from collections.abc import Mapping, Sequence
from typing import Any

from orbits.estimates import CONFIDENCE, Estimate
from orbits.printing import fixed, interval, plural, share
from orbits.statistics import TINY
from orbits.whole_field import PARTS
from symreg.experiments.far_field import FieldLimits
from symreg.experiments.verdict import (
    ANOTHER,
    COPIERS,
    INJECTED,
    KEPLERIAN,
    LAW,
    NEWTON,
    OBEYS,
    PARROT,
    UNREADABLE,
    UNTRAINED,
    WorldModelKind,
)
from symreg.recovery.gates import Gate
from symreg.recovery.thresholds import THRESHOLDS
from symreg.recovery.words import PERMUTED
from worldmodel.controls import CONTROLS
from worldmodel.examiner.answers import RIGHT
from worldmodel.examiner.pasts import FOREIGN, PASTS
from worldmodel.examiner.shells import OUTWARD, TRAINED, WORDS, Shell
from worldmodel.examiner.summary import Examination, StateCell

WEIGHTS, READ, ARCS = "weights", "past", "arcs"
"""Where a force is: in the weights, read from the past, or not behind every other force's past."""
NULLS = {PERMUTED: "permuted targets", UNTRAINED: "an untrained network"}
INSTRUMENT = (PERMUTED, UNTRAINED, INJECTED)
"""Gates that test the instrument, not the model."""
NOT_KICKED = "No kicked states were examined, and nothing else shows which law a model obeys."


FIELD_MEANS = (
    f"A model has the field of a law if, with {share(CONFIDENCE)} confidence, the acceleration "
    f"that its predictions imply is within {share(RIGHT)} of the law's on at least "
    f"{share(THRESHOLDS.all_right)} of the states drawn from one distribution. (Distance is "
    "log-uniform between the ends at which it answers, inside the training distances. Speed is "
    "uniform up to twice the circular one, direction uniform. A missing answer counts as wrong.) "
    f"Its median error is at most {share(THRESHOLDS.far_error)}. No term that the law lacks is "
    f"certainly above {share(THRESHOLDS.field_sure)} of the attraction, and no non-central one may "
    f"be above {share(THRESHOLDS.field_part)}. It is right on at least "
    f"{share(THRESHOLDS.far_right)} of its own predictions and, as far as can be measured, with "
    "every other history. After a kick R² of its accelerations is at least "
    f"{THRESHOLDS.field_r2:g}."
)
LAW_MEANS = (
    f"A model holds the law if it has the field and is within {share(RIGHT)} of the law's "
    f"acceleration on at least {share(THRESHOLDS.all_right)} of the states of the same density out "
    "to twice the farthest training distance (lower bound at least "
    f"{share(THRESHOLDS.far_right)}). Further shells end at four and ten times that distance. The "
    "law holds to the last that passes without a break."
)
RECOVERED_MEANS = (
    "A law is recovered if the model has its field and, on orbits whose velocity was turned, its "
    "formula, exponent and constant are the law's, while untrained and permuted controls give none."
)
KINDS = (
    f"{FIELD_MEANS} {LAW_MEANS} {RECOVERED_MEANS} "
    "A table of the training steps can have the field, and no table holds a law beyond it. Another "
    "force: its accelerations form one field that is not the named law's. Keplerian: right on "
    "undisturbed orbits, wrong one step after a kick and still wrong four steps after it, as a "
    "fitted ellipse is. A parrot is right and wrong in the same places, with a naive copier's "
    "errors. Anything else is neither; or it cannot be read at this step, where its answers are "
    "rounded so coarsely that the law itself would fail."
)
"""What the world-model score means."""


def about_the_law(law: str, gates: Sequence[Gate]) -> str:
    """What the gates say of the law, in a sentence."""
    failed = [gate.name for gate in gates if not gate.passed]
    if not failed:
        names = [gate.name for gate in gates]
        nulls = " or ".join(words for name, words in NULLS.items() if name in names)
        parts = [f"is not found in {nulls}"] if nulls else []
        parts += ["is when the true law is injected"] if INJECTED in names else []
        controls = f" It {', but '.join(parts)}." if parts else ""
        return (
            f"The law of {law} is found in states whose velocity was turned in mid-orbit.{controls}"
        )
    instrument = sorted(set(INSTRUMENT) & set(failed))
    if instrument:
        return (
            "No conclusion about the model: the instrument failed its own controls "
            f"({', '.join(instrument)})."
        )
    fail = "fails" if len(failed) == 1 else "fail"
    return f"{len(failed)} of {plural(len(gates), 'condition')} on {law} {fail}."


def about_the_first(
    failed: Sequence[Gate], far: Examination | None, network: Mapping[str, Any] | None, short: int
) -> str:
    """The first condition that fails, and what to try next.

    Args:
        failed: at least one.
        far: what was measured on far states.
        network: options of the network, if the run trained it.
        short: the context of the default.
    """
    first, rest = failed[0], len(failed) - 1
    more = f" {rest} more in the report." if rest else ""
    sentence = f"The first that fails is {first.name}: {first.numbers}.{more}"
    if far is not None and _one_way(far):
        return f"{sentence} To try: training orbits of the other sense of rotation as well."
    if network is None or any(gate.name in INSTRUMENT for gate in failed):
        return sentence  # no other network mends the instrument
    if network["target"] != "residual":
        return f"{sentence} To try: another target of the training, --target residual."
    if network["context_length"] > short:
        return f"{sentence} To try: a shorter context, --context-length {short}."
    return f"{sentence} To try: more training, --steps {2 * network['steps']}."


def about_rounding(far: Examination) -> str:
    """How coarse the answers are beside what a force moves in a step."""
    return (
        f"It cannot be read at this step: the answers are rounded to {far.grain:.2g} au, where the "
        f"force moves a body by "
        f"{far.pull:.2g} au in a step (medians over far states): the rounding alone is an error of "
        f"{share(far.rounding)} of the acceleration."
    )


def about_the_kind(model: WorldModelKind, law: str) -> list[str]:
    """The world-model score in sentences: the kind, why, and what far states show."""
    far = model.far
    sentences = [f"World model: {model.kind}. {_reason(model, law)}"]
    if far is not None:
        sentences.append(" ".join(filter(None, (_field(far, law), _worst(far), _besides(model)))))
        sentences.append(_memory(far))
        sentences.append(" ".join(filter(None, (_by_shell(far), _one_way(far)))))
    if model.limits is not None:
        sentences.append(about_limits(model.limits))
    return [sentence for sentence in sentences if sentence]


def of_law(law: str, what: str) -> str:
    """`Newton's law`, `the law hooke`."""
    if law == NEWTON:
        return f"Newton's {what}"
    return f"the law {law}" if what == "law" else f"the {what} of {law}"


def about_reach(model: WorldModelKind, law: str) -> str:
    """To which distance the law holds, and what stops it; of models that have its field."""
    far, holds_to = model.far, model.holds_to
    assert far is not None  # for the type checker: a field was examined
    assert holds_to is not None
    low, high = far.radius
    stopped = next((gate for gate in model.beyond if not gate.passed), None)
    if model.kind == LAW:
        sentence = (
            f"It holds {of_law(law, 'law')} out to {holds_to:.3g} au, {holds_to / high:.0f} times "
            "as far as any orbit that it saw."
        )
    else:
        sentence = (
            f"It has {of_law(law, 'force')} where it was trained ({low:.3g} to {high:.3g} au), and "
            "no law"
        )
    if stopped is None:
        return sentence if model.kind == LAW else f"{sentence}: beyond, nothing was asked."
    name = OUTWARD[len(model.beyond) - 1]
    shell = far.shells[name]
    if stopped.passed is None:
        why = f"{WORDS[name]}, {stopped.told}, at this step and with answers rounded like these"
    else:
        why = f"{WORDS[name]} it is {_off(shell)}"
    if model.kind == LAW:
        return f"{sentence} Farther out, {why}."
    return f"{sentence}: {why}."


def _off(shell: Shell) -> str:
    """How wrong it is in a shell."""
    if shell.share.error is None:
        return "silent"
    return (
        f"{share(shell.share.error, 2)} off in the median, and within {share(RIGHT)} on "
        f"{share(shell.share.right)} of the states"
    )


def _by_shell(far: Examination) -> str:
    """The exponent that a model believes in, and how far it is off, shell by shell outward."""
    asked = [name for name in (TRAINED, *OUTWARD) if name in far.shells]
    if not any(far.shells[name].share.known for name in asked if name != TRAINED):
        return "Beyond the distances of training it does not answer." if asked else ""
    told = []
    for name in asked:
        shell = far.shells[name]
        if shell.share.error is None:
            told.append(f"{WORDS[name]}, silent")
            continue
        off = f"{WORDS[name]}, {share(shell.share.error)} off in the median,"
        slope = shell.exponent
        told.append(off if slope is None else f"{off} as r to the power {interval(slope)}")
    return f"Its force by distance: {'; '.join(told)}."


def _reason(model: WorldModelKind, law: str) -> str:
    """Why it is of its kind."""
    if model.kind == UNREADABLE:
        return (
            f"With answers so coarse the law itself would be off by more than "
            f"{share(THRESHOLDS.far_error)}. To try: finer answers (float32, the displacement in "
            "place of the position), or a longer step."
        )
    if model.kind in OBEYS and model.far is not None:
        far = model.far
        behind = f" behind {plural(len(far.pasts), 'other past')}," if far.pasts else ""
        return (
            f"{about_reach(model, law)} Where it was trained its force is right after a kick, on "
            f"far states,{behind} and on its own predictions, up to {far.horizon} in a row."
        )
    if model.kind == ANOTHER:
        return f"Its accelerations form one field, which fails: {_first(model.inside)}."
    if model.kind == KEPLERIAN:
        return "Right on undisturbed orbits, wrong after a kick, as a fitted curve is."
    if model.kind == PARROT:
        remembers = any(COPIERS["training_copier"] in gate.name for gate in model.parrot)
        whose = "its training orbits" if remembers else "the context"
        return f"Right and wrong where a naive copier of {whose} is."
    orbit, lost = model.keplerian[:2]
    if orbit.passed is False:
        return f"R² on undisturbed orbits is {orbit.found}."
    if lost.passed and model.keplerian[2].passed is False:
        return "Wrong right after a kick, right again four steps later."
    failed = _first(model.inside)
    return f"It fails what a model of {of_law(law, 'law')} passes: {failed}." if failed else ""


def _first(gates: Sequence[Gate]) -> str:
    """The first that fails, and how many more do."""
    failed = [gate.name for gate in gates if gate.passed is False]
    return f"{failed[0]}, and {len(failed) - 1} more" if len(failed) > 1 else "".join(failed)


def _field(far: Examination, law: str) -> str:
    """On which share of the stated density the acceleration is the law's."""
    low, high = far.radius
    sentence = (
        f"Of {far.states} states drawn from one density (distance log-uniform from {low:.3g} "
        f"to {high:.3g} au, speed uniform up to 2 circular ones, any direction; examination "
        f"{far.seed})"
    )
    if far.answered < 1:
        sentence += (
            f" it answers {share(far.answered)}, from {far.closest:.3g} to {far.farthest:.3g} au; "
            "between these, where no answer counts as a wrong one,"
        )
    return (
        f"{sentence} its acceleration is that of {law} within {share(RIGHT)} on "
        f"{share(far.all.right)} (at least {share(far.all.bound())} with {share(CONFIDENCE)} "
        f"confidence; median error {share(far.all.error)})."
    )


def _worst(far: Examination) -> str:
    """Where it is certainly wrong too often."""
    if not (wrong := wrong_cells(far)):
        return ""
    some, others = wrong[:3], len(wrong[3:])
    named = "; ".join(f"{cell} ({share(cell.share.right)})" for cell in some)
    more = f", and {others} cells more" if others else ""
    least = share(THRESHOLDS.cell_right)
    return f"Certainly fewer than {least} are right at {named}{more}."


def memory(far: Examination) -> str | None:
    """Where the force is, as far as it can be told; None if no other force's past was shown, and of
    a model that is wrong behind the law's own arcs: a force that is too weak is no force read."""
    behind = {name: far.pasts[name] for name in FOREIGN if name in far.pasts}
    least = THRESHOLDS.far_right
    shown = behind and all(each.known for each in behind.values())
    if not shown or (far.all.right or 0.0) < least:
        return None
    if all(each.bound(upper=True, tests=len(behind)) >= least for each in behind.values()):
        return WEIGHTS
    return READ if _obeyed(far) else ARCS


def _obeyed(far: Examination) -> list[str]:
    """Pasts whose force it is nearer to than to the law, in words."""
    return [PASTS[name].words for name, value in far.followed.items() if (value or 0.0) > 0.5]


def _memory(far: Examination) -> str:
    """Whether the force is in the weights, or read from the past."""
    behind = [far.pasts[name] for name in FOREIGN if name in far.pasts]
    rights = [each.right for each in behind if each.right is not None]
    most = max((abs(value) for value in far.followed.values() if value is not None), default=0.0)
    where = memory(far)
    if where == WEIGHTS:
        return (
            f"The force is in its weights: behind pasts under {len(behind)} other forces it is "
            f"right on at least {share(min(rights))} of the states, and moves from the law towards "
            f"those forces by at most {share(most)} of the way."
        )
    if where == READ:
        pasts = " or ".join(_obeyed(far))
        return f"It reads the force from the past: behind one {pasts} it obeys that force."
    if where == ARCS:
        return (
            "It is right behind the law's own arcs, and not behind every other: behind a past "
            f"under another force on as few as {share(min(rights))} of the states."
        )
    return ""


def wrong_cells(far: Examination) -> list[StateCell]:
    """Cells in which certainly too few states are right, the worst first."""
    tests = len(far.cells)
    wrong = [
        cell for cell in far.cells
        if cell.share.bound(upper=True, tests=tests) < THRESHOLDS.cell_right
    ]  # fmt: skip
    return sorted(wrong, key=lambda cell: cell.share.right or 0.0)


def _besides(model: WorldModelKind) -> str:
    """How many times better than the best lookup, and how far that is off beyond."""
    beside = model.beside
    if beside is None:
        return ""
    lookup = CONTROLS[beside.lookup].label
    if beside.mean_error == 0:
        return f"The best lookup of the same orbits ({lookup}) makes no error at all."
    own = model.far.shells.get(OUTWARD[0]) if model.far else None
    beyond = ""
    if beside.beyond is not None and own is not None and own.share.error is not None:
        beyond = (
            f" {WORDS[OUTWARD[0]].capitalize()} distance of training that lookup is "
            f"{share(beside.beyond)} off in the median, and the model {share(own.share.error)}."
        )
    times = Estimate(*(1 / max(each, TINY) for each in (beside.ratio, beside.high, beside.low)))
    return (
        f"With errors capped at 100 %, its mean error is {interval(times)} times that of the best "
        f"lookup of the same orbits ({lookup}, {share(beside.mean_error)}).{beyond}"
    )


def _one_way(far: Examination) -> str:
    """That it is right for one sense of rotation alone, if so."""
    ways = {"anticlockwise": far.anticlockwise, "clockwise": far.clockwise}
    known = {way: error for way, error in ways.items() if error is not None}
    good = [way for way, error in known.items() if error <= RIGHT]
    if len(good) != 1 or max(known.values()) <= 3 * RIGHT:
        return ""
    (bad,) = set(known) - set(good)
    return (
        f"Its median error is {share(known[good[0]])} for bodies that move {good[0]}, and "
        f"{share(known[bad])} for those that move {bad}."
    )


def about_limits(limits: FieldLimits) -> str:
    """Departures with which the field would have failed a gate."""
    ends, parts = limits.departures, []
    if ends:
        parts.append("{:+.2g} or {:+.2g} in the exponent".format(*ends["exponent"]))
        # a factor 1 + s/r², whatever the law is
        at_one = " or ".join(f"{100 * size:+.2g} %" for size in ends["quartic"])
        parts.append(f"{at_one} of the attraction at 1 au, in a term steeper by 1/r²")
    if inverse := ends.get("yukawa", (0.0, 0.0))[1]:
        # on top of whatever the law is: Yukawa's own has such a factor already
        parts.append(f"a screening by (1 + r/L)·exp(-r/L) with L below {1 / inverse:.2g} au")
    if limits.part is not None:
        parts.append(
            f"{share(limits.part)} of the attraction, in the median, in a drag or another of the "
            f"{len(PARTS)} non-central parts that the report lists"
        )
    sentence = (
        "Added to the model's own force, a departure from the law beyond any of these would have "
        f"been noticed: {'; '.join(parts)}. A departure of another shape may pass while the force "
        f"stays within {share(RIGHT)} on {share(THRESHOLDS.all_right)} of the states."
    )
    if limits.remainder is not None:
        sentence += (
            " What is left when all these parts are fitted is at most "
            f"{share(limits.remainder)} of the attraction on 90 % of the states."
        )
    return sentence


def part_table(far: Examination) -> list[tuple[str, ...]]:
    """Parts that no central force has, header first."""
    rows: list[tuple[str, ...]] = [("part that no central force has", "size", "at most")]
    rows += [
        (words, f"{part.size:.2%}", f"{part.size + part.half_width:.2%}")
        for name, words in PARTS.items()
        if (part := far.parts.get(name)) is not None
    ]
    return rows


def kicks_in_words(kick_r2: Mapping[str, float | None]) -> str:
    """`0.9997 after 1 step, and at least 0.9995 after each of 8`."""
    known = {step: value for step, value in kick_r2.items() if value is not None}
    if not known:
        return "not measured"
    first = next(iter(kick_r2))
    step = f"{first} step" if first == "1" else f"{first} steps"
    lowest = f"at least {fixed(min(known.values()))} after each of {len(known)}"
    return f"{fixed(kick_r2[first])} after {step}, {lowest}"
