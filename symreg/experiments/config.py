"""Options of `symreg run`: one experiment, from simulated orbits to a verdict.

They are the options that the steps declare for whoever calls them, side by side: of the orbits, the
network, a model of the user's own, the kick and the search. What a run sets itself (which states,
which control, which table) is no option here.
"""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from orbits.config import (
    UNKNOWN,
    WORKERS_LIMIT,
    EphemerisConfig,
    GenerateConfig,
    OrbitsConfig,
)
from orbits.files import as_json, read_json, write_json
from orbits.options import (
    AtLeast,
    Between,
    OptionError,
    Options,
    Output,
    changed,
    flag_of,
    require_known,
    values_of,
)
from symreg.recovery.config import RecoverConfig, SearchConfig
from worldmodel.config import Checkpoint, KickConfig, NetworkConfig, PredictorConfig, TrainConfig
from worldmodel.controls import CONTROLS as PREDICTORS
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.readouts import parse_readout
from worldmodel.probes.readouts.base import ReadOut

SOURCES = {
    "orbit": "held-out simulated orbits",
    "kicked": "kicked states",
    "planets": "real planets (JPL DE421)",
}
"""The sets of states on which to test the model."""

CONTROLS = {
    name: f"control: {control.what}" for name, control in PREDICTORS.items() if name != "none"
}
"""The same test with a known answer; one for every control of `worldmodel probe`."""


class Key(NamedTuple):
    """What is asked, a probe or a set of states, and who stands in the model's place."""

    name: str
    control: str = "none"

    def __str__(self) -> str:
        """As in the names of files and of a study's columns."""
        return self.name if self.control == "none" else f"{self.name}_{self.control}"


REACH = {"reach": "far states, inside and beyond the distances of training"}
"""States that an examination asked for: a law is searched in them too."""

CONFIGURATION = "configuration.json"
"""File that identifies a run directory."""

PLANETS_YEARS = (1950, 2050, 2200)
"""First and last year for real planets, and the latest end of a segment."""


@dataclass(frozen=True)
class RunConfig(SearchConfig, KickConfig, Checkpoint, PredictorConfig, NetworkConfig, OrbitsConfig):
    """One complete run: a law, a model and the states on which it is tested."""

    out: Annotated[str, Output()] | None = None
    """Run directory; by default runs/LAW-ATTENTION-contextC-seedS."""
    seed: Annotated[int, Between(0, 2**62)] = 0
    """Seed of the orbits, the weights, the kicks and the search."""
    data: str | None = None
    """Your own dataset (`orbits import`, `orbits generate`) instead of simulated orbits; if its law
    is unknown, all that needs a law is skipped."""
    system: Literal["relative", "barycentric"] = "relative"
    """relative (one body around a centre) or barycentric (two visible bodies)."""
    held_out_orbits: Annotated[int, AtLeast(0)] = 0
    """Number of orbits kept for the tests, never trained on; 0 means a quarter of --orbits."""
    sources: tuple[str, ...] = ("orbit", "kicked", "planets")
    """States to test the model on: orbit, kicked, planets."""
    bodies: tuple[str, ...] = ("mercury", "venus", "earth", "mars")
    """Real planets to test the model on."""
    controls: tuple[str, ...] = ("injected", "untrained", "keplerian")
    """Controls on kicked states: injected, untrained, keplerian, parrot, nearest, locally_linear,
    spline, forest, power, straight_line, autoregression. What is fitted to the training orbits is
    asked on far states too, unless there are no controls."""
    readouts: tuple[str, ...] = ("jacobian",)
    """Further questions, with options in brackets, as in 'transfer(labelled=900, few=100)':
    kick_response, jacobian, linear, causal, evaluate, extrapolate, transfer. One may be asked
    several times, with other options."""
    fit: bool = False
    """The factory of --model trains: it receives the run's training orbits (`data`), a `folder` for
    weights, and `seed`."""
    trained_on: str | None = None
    """Dataset that a model of your own was trained on; by default the run's training orbits."""
    exam_seed: Annotated[int, Between(0, 2**62)] | None = None
    """Repeats the examination whose number a verdict names, to the digit; by default every run
    draws states that nobody has seen."""
    search_seeds: Annotated[int, Between(1, 10_000)] = 5
    """Independent searches for a law."""
    workers: Annotated[int, Between(0, WORKERS_LIMIT)] = 0
    """Parallel processes; 0 means one per core. Results do not depend on it."""

    FREE: ClassVar[tuple[str, ...]] = ("out", "workers")
    """Options that change no number."""
    QUESTIONS: ClassVar[tuple[str, ...]] = ("sources", "controls", "readouts")
    """Options that may change when a run resumes: tests of the model, not the model."""
    RARE: ClassVar[tuple[str, ...]] = (
        *(each.name for each in fields(SearchConfig) if each.name != "engine"),
        "dimensions", "semi_major_axis", "eccentricity", "min_perihelion", "companion_mass", "mass",
        "simulator", "system", "held_out_orbits", "bodies", "window", "inputs", "bins",
        "bin_range", "layout", "muon_lr", "adamw_lr", "context_noise", "accelerator", "devices",
        "batch_tokens", "kicked", "precision", "checkpoint", "kick_angle", "kick_scale",
        "trained_on", "fit", "length_unit", "time_unit", "search_seeds",
    )  # fmt: skip
    """Options that the short help leaves out: it has twenty-five."""

    def __post_init__(self) -> None:
        """Check what no step can check by itself."""
        super().__post_init__()
        _ = self.train
        self._check_orbits()
        self._check_questions()
        self._check_predictor()

    def _check_orbits(self) -> None:
        if self.kicked and self.system == "barycentric":
            raise OptionError(
                "kicked", "turns the velocity of one body; leave it out with --system barycentric."
            )
        if self.orbits < 8:
            raise OptionError("orbits", f"is {self.orbits}; at least 8, to hold some out.")
        # half of an orbit before the kick (the model's context), half after it
        context = self.context_length
        if context < 2 and self.model is None and self.sources:
            raise OptionError(
                "context_length",
                "is 1; one position holds no velocity, so that no acceleration can be read off "
                "what follows it: give 2 or more.",
            )
        least = max(24, 2 * context)  # the kick comes in mid-orbit
        if self.samples < least:
            raise OptionError(
                "samples",
                f"is {self.samples}; a context of {context} needs at least {least} "
                "(the kick comes in mid-orbit).",
            )

    def _check_questions(self) -> None:
        for name, known in (("sources", SOURCES), ("controls", CONTROLS)):
            for value in getattr(self, name):
                require_known(name.removesuffix("s"), value, known)
        readouts = self.asked
        for name in self.QUESTIONS:
            values = getattr(self, name)
            if len(readouts if name == "readouts" else set(values)) < len(values):
                raise OptionError(name, f"names something twice: {' '.join(values)}.")
        if not (self.sources or self.readouts):
            raise ValueError("--sources and --readouts are empty: there is nothing to ask.")
        for name, readout in readouts.items():
            if self.held_out_count < readout.least_orbits:
                raise ValueError(
                    f"--readouts {name} needs {readout.least_orbits} held-out orbits; there are "
                    f"{self.held_out_count} (--held-out-orbits)."
                )
        if "planets" not in self.sources:
            return
        if self.system == "barycentric":
            raise ValueError(
                "--sources planets shows one body around the Sun, but --system barycentric "
                "trains on two bodies; leave planets out."
            )
        first, _, last = PLANETS_YEARS
        if self.samples * self.dt > last - first:
            raise ValueError(
                f"--sources planets: the positions end in {last}, {last - first} yr after the "
                f"first, but --samples {self.samples} times --dt {self.dt:g} yr is "
                f"{self.samples * self.dt:g} yr; take less, or leave planets out."
            )
        EphemerisConfig(bodies=self.bodies)

    def _check_predictor(self) -> None:
        if self.model is None:
            if self.fit:
                raise OptionError("fit", "needs --model: the factory that trains.")
            return
        networks = [name for name, readout in self.asked.items() if readout.of_networks]
        if networks:
            raise OptionError(
                "readouts",
                f"asks for {' and '.join(networks)}, which works with networks of `worldmodel "
                "train` alone; leave that out with --model.",
            )
        lacking = {}
        if self.untrained_model is None:
            lacking["untrained"] = "needs the same model before training: give --untrained-model"
        missing = [name for name in self.controls if name in lacking]
        if missing and self.controls != type(self).controls:
            raise OptionError(
                "controls", f"asks for {missing[0]}, which {lacking[missing[0]]}, or leave it out."
            )
        possible = tuple(name for name in self.controls if name not in lacking)
        object.__setattr__(self, "controls", possible)

    @property
    def folder(self) -> Path:
        """The run directory."""
        if self.out is not None:
            return Path(self.out)
        law = file_name(self.law if self.data is None else Path(self.data).stem)
        kind = f"{file_name(self.attention)}-context{self.context_length}"
        if self.model is not None:
            kind = file_name(Path(self.model).name)
        return Path("runs") / f"{law}-{kind}-seed{self.seed}"

    @property
    def asked(self) -> dict[str, ReadOut]:
        """The probes that are asked for, by name; of one that is asked several times by the options
        too in which these differ.

        Raises:
            ValueError: if there is none of a name, or an option is not one of its own.
        """
        readouts = []
        for text in self.readouts:
            try:
                readouts.append(parse_readout(text))
            except OptionError as error:
                raise OptionError("readouts", f"{text}: {error}") from None
        return {_called(each, readouts): each for each in readouts}

    @property
    def questions(self) -> dict[str, ReadOut]:
        """The probes of this model: one of tokens has no derivatives by position, and a verdict
        needs far states."""
        asked = {n: r for n, r in self.asked.items() if self.head != "tokens" or n != "jacobian"}
        if "kicked" in self.sources and self.law != UNKNOWN:
            asked.setdefault("far", parse_readout("far"))
        return asked

    @property
    def references(self) -> tuple[str, ...]:
        """What is fitted to the training orbits, beside which a verdict puts the model: lookups,
        and a straight line in logarithms. They take one visible body; a run without controls has
        none."""
        if not (self.reaches and self.controls):
            return ()
        return tuple(name for name, control in PREDICTORS.items() if control.remembers)

    @property
    def reaches(self) -> bool:
        """Whether an examination has states of one visible body: a law is searched in them too."""
        return "far" in self.questions and self.system == "relative"

    @property
    def held_out_count(self) -> int:
        """Orbits that the model never trains on."""
        return self.held_out_orbits or max(2, self.orbits // 4)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that decides a run's results, as JSON."""
        return {key: value for key, value in as_json(self).items() if key not in self.FREE}

    def write(self, folder: Path) -> None:
        """Identify a run directory."""
        write_json(folder / CONFIGURATION, self.identity)

    def keys(self, name: str) -> list[Key]:
        """A probe asked of the model, and of every control that has something to say there."""
        takes = self.questions[name].controls_of_a_run
        controls = tuple(each for each in self.controls if takes is None or each in takes)
        if name == "far":
            controls += tuple(each for each in self.references if each not in controls)
        return [Key(name), *(Key(name, control) for control in controls)]

    @property
    def transfers(self) -> dict[Key, str]:
        """Probes of a run that yield forces, in which a law is searched, in words."""
        tables = [name for name, readout in self.questions.items() if readout.writes_table]
        keys = [key for name in tables for key in self.keys(name)]
        of = {name: f", {control.label}" for name, control in PREDICTORS.items()} | {"none": ""}
        return {key: f"forces said by {key.name}{of[key.control]}" for key in keys}

    @property
    def train(self) -> TrainConfig:
        """How the network is trained."""
        return TrainConfig(**values_of(NetworkConfig, self), seed=self.seed)

    @property
    def predictor(self) -> PredictorConfig:
        """The user's own model."""
        return PredictorConfig(**values_of(PredictorConfig, self))

    @property
    def recover(self) -> RecoverConfig:
        """How a law is searched in a table of forces."""
        law = None if self.law == UNKNOWN else self.law
        return RecoverConfig(
            **values_of(SearchConfig, self), law=law, seeds=self.search_seeds, seed=self.seed
        )

    def probe(self, **options: Any) -> ProbeConfig:
        """How the model is read."""
        shared = values_of(Checkpoint, self) | values_of(KickConfig, self)
        return ProbeConfig(**{**shared, "seed": self.seed, **options})

    def orbits_of(self, count: int, seed: int, samples: int | None = None) -> GenerateConfig:
        """Options of a set of orbits like the training orbits; the others run beside it."""
        options = GenerateConfig(**values_of(OrbitsConfig, self), seed=seed, workers=1)
        return replace(options, orbits=count, samples=samples or self.samples)


def _called(readout: ReadOut, among: list[ReadOut]) -> str:
    """A probe with those of its options in which others of the same name differ from it."""
    usual = type(readout)()
    alike = [each for each in among if each.name == readout.name]
    shared = {
        name: getattr(usual, name)
        for name in values_of(type(readout), readout)
        if len({getattr(each, name) for each in alike}) == 1
    }
    return str(replace(readout, **shared)).replace(", ", ",")


@dataclass(frozen=True)
class StudyConfig(Options):
    """Where a study is kept, and its workers."""

    out: Annotated[str, Output()] | None = None
    """Folder of the study; by default studies/NAME."""
    workers: Annotated[int, Between(0, WORKERS_LIMIT)] = 0
    """Cells that run at the same time; 0 means one per core."""
    scheduler: str = ""
    """Address of a dask scheduler (tcp://host:port) whose workers run the cells instead; they
    must see the same folder."""
    minutes: Annotated[float, Between(0, 1e6)] = 0.0
    """Stop after so many minutes, as with Ctrl-C, to resume later; 0 never stops."""

    def folder(self, name: str) -> Path:
        """The study's folder."""
        return Path(self.out) if self.out is not None else Path("studies") / name


def require_same_run(
    config: RunConfig, free: tuple[str, ...] = (*RunConfig.QUESTIONS, "exam_seed")
) -> None:
    """Check that a run directory, once begun, has this configuration.

    An option that did not exist when the run began has its default. The message names the options
    that differ, or what else is there.
    """
    folder = config.folder
    path = folder / CONFIGURATION
    if not path.exists():
        others = sorted(p.name for p in folder.glob("*") if p.name != ".lock")
        if others:
            raise ValueError(
                f"{folder} is no run directory and not empty (it has {others[0]}); choose another "
                "--out."
            )
        return
    try:
        earlier = RunConfig.of(read_json(path))
    except ValueError as error:
        raise ValueError(
            f"{path} is damaged or was written by another version ({error}); choose another "
            "--out, or delete that folder."
        ) from None
    others = [
        f"{flag_of(name)} {getattr(earlier, name)} (now {getattr(config, name)})"
        for name in changed(earlier, config)
        if name not in (*free, *RunConfig.FREE)
    ]
    if others:
        raise ValueError(
            f"{folder} belongs to another configuration: {', '.join(others)}; "
            "choose another --out, or delete that folder."
        )


def file_name(text: str) -> str:
    """A text as part of a file name: what a shell would read becomes an underscore."""
    return "".join(c if c.isalnum() or c in "._=-" else "_" for c in text).strip("_")
