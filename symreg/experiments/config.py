"""Options of `symreg run`: one experiment, from simulated orbits to a verdict.

The steps' own options are nested, each declared with its step: `--train.context-length`,
`--recover.individuals`. The common ones have short names too (`ALIASES`), and those that several
steps share (`DECIDED`) cannot be given one by one.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

from orbits.config import UNKNOWN, WORKERS_LIMIT, EphemerisConfig, GenerateConfig
from orbits.files import as_json, read_json, write_json
from orbits.options import (
    AtLeast,
    Between,
    OptionError,
    Options,
    Output,
    changed,
    flag_of,
    option_names,
    option_value,
    require_known,
    short_names,
)
from symreg.recovery.config import RecoverConfig
from worldmodel.config import PredictorConfig, TrainConfig
from worldmodel.predictors import CONTROLS as PREDICTORS
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.readouts import READOUTS as READ_OUTS
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

TRANSFERS = {
    "transfer": "forces of the fine-tuned model",
    "transfer_untrained": "forces of an untrained network, fine-tuned",
    "transfer_frozen": "forces of a new head on the frozen model",
    "transfer_frozen_untrained": "forces of a new head on a frozen, untrained network",
}
"""Fine-tuned models, with tables of forces like those of the sources."""

QUESTIONS = (*(name for name in READ_OUTS if name != "implied"), "transfer_frozen")
"""Further questions: the read-outs of `worldmodel probe`."""

CONFIGURATION = "configuration.json"
"""File that identifies a run directory."""

PLANETS_YEARS = (1950, 2050, 2200)
"""First and last year for real planets, and the latest end of a segment."""


SIMULATOR = "scipy"
"""Not `auto`: a run's numbers must not depend on what is installed."""


@dataclass(frozen=True)
class RunConfig(Options):
    """One complete run: a law, a model and the states on which it is tested."""

    out: Annotated[str, Output()] | None = None
    """Run directory; by default runs/LAW-ATTENTION-contextC-seedS."""
    seed: Annotated[int, Between(0, 2**62)] = 0
    """Seed of the orbits, the weights, the kicks and the search."""
    data: str | None = None
    """Your own dataset (`orbits import`, `orbits generate`) instead of simulated orbits; if its law
    is unknown, all that needs a law is skipped."""
    held_out_orbits: Annotated[int, AtLeast(0)] = 0
    """Number of orbits kept for the tests, never trained on; 0 means a quarter of --orbits."""
    sources: tuple[str, ...] = ("orbit", "kicked", "planets")
    """States to test the model on: orbit, kicked, planets."""
    controls: tuple[str, ...] = ("injected", "untrained", "locally_linear", "nearest", "keplerian")
    """Controls on kicked states: injected, untrained, locally_linear, nearest, keplerian, parrot,
    straight_line, autoregression."""
    readouts: tuple[str, ...] = ("jacobian",)
    """Further questions: kick_response, jacobian, linear, causal, symmetry, field, evaluate,
    extrapolate, transfer, transfer_frozen, inductive_bias."""
    workers: Annotated[int, Between(0, WORKERS_LIMIT)] = 0
    """Parallel processes; 0 means one per core. Results do not depend on it."""
    generate: GenerateConfig = field(default_factory=lambda: GenerateConfig(simulator=SIMULATOR))
    fit: bool = False
    """The factory of --model trains: it receives the run's training orbits (`data`), a `folder` for
    weights, and `seed`."""
    predictor: PredictorConfig = field(default_factory=PredictorConfig)
    planets: EphemerisConfig = field(default_factory=EphemerisConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    probe: ProbeConfig = field(default_factory=ProbeConfig)
    recover: RecoverConfig = field(default_factory=RecoverConfig)

    FREE: ClassVar[tuple[str, ...]] = ("out", "workers")
    """Options that change no number."""
    QUESTIONS: ClassVar[tuple[str, ...]] = ("sources", "controls", "readouts")
    """Options that may change when a run resumes: tests of the model, not the model."""
    DECIDED: ClassVar[tuple[str, ...]] = (
        "generate.seed", "generate.scheduler", "planets.samples", "planets.dt", "planets.start",
        "planets.stop", "planets.frame", "planets.centre", "planets.together", "train.seed",
        "train.resume",
        "probe.readout", "probe.states", "probe.control", "probe.orbits", "probe.seed",
        "recover.law", "recover.target", "recover.features", "recover.groups",
        "recover.units", "recover.sigma", "recover.sigma_of", "recover.per_group", "recover.pair",
        "recover.form", "recover.bad_rows", "recover.seed",
    )  # fmt: skip
    """Options of the steps that the run sets itself."""
    ALIASES: ClassVar[dict[str, str]] = {
        **short_names("generate", "law system population orbits samples dt mass simulator".split()),
        **short_names("predictor", option_names(PredictorConfig)),
        "bodies": "planets.bodies",
        **short_names(
            "train",
            "attention context_length window target head bins inputs kicked steps batch_tokens "
            "precision d_model n_layers n_heads".split(),
        ),
        "engine": "recover.engine",
        "search_seeds": "recover.seeds",
    }
    """Short names of the steps' options."""

    def __post_init__(self) -> None:
        """Check what no step can check by itself."""
        super().__post_init__()
        self._check_orbits()
        self._check_questions()
        self._check_predictor()

    def _check_orbits(self) -> None:
        orbits, samples = self.generate.orbits, self.generate.samples
        if self.generate.system not in ("relative", "barycentric"):
            raise OptionError(
                "generate.system",
                f"is {self.generate.system!r}; a run reads orbits of one body (relative) or of two "
                "visible ones (barycentric).",
            )
        if self.train.kicked and self.generate.system == "barycentric":
            raise OptionError(
                "train.kicked", "turns the velocity of one body; leave it out with --system "
                "barycentric.",
            )  # fmt: skip
        if orbits < 8:
            raise OptionError("generate.orbits", f"is {orbits}; at least 8, to hold some out.")
        # half of an orbit before the kick (the model's context), half after it
        context = self.train.context_length
        if samples < max(24, 2 * context):
            raise OptionError(
                "generate.samples",
                f"is {samples}; a context of {context} needs at least {max(24, 2 * context)} (the "
                "kick comes in mid-orbit).",
            )

    def _check_questions(self) -> None:
        for name, known in (("sources", SOURCES), ("controls", CONTROLS), ("readouts", QUESTIONS)):
            values = getattr(self, name)
            for value in values:
                require_known(name.removesuffix("s"), value, known)
            if len(set(values)) < len(values):
                raise OptionError(name, f"names something twice: {' '.join(values)}.")
        if not (self.sources or self.readouts):
            raise ValueError("--sources and --readouts are empty: there is nothing to ask.")
        for name in self.readouts:
            least = self.read_out(name).least_orbits
            if self.held_out_count < least:
                raise ValueError(
                    f"--readouts {name} needs {least} held-out orbits; there are "
                    f"{self.held_out_count} (--held-out-orbits)."
                )
        if "planets" not in self.sources:
            return
        if self.generate.system == "barycentric":
            raise ValueError(
                "--sources planets shows one body around the Sun, but --system barycentric "
                "trains on two bodies; leave planets out."
            )
        first, _, last = PLANETS_YEARS
        samples, dt = self.generate.samples, self.generate.dt
        if samples * dt > last - first:
            raise ValueError(
                f"--sources planets: the positions end in {last}, {last - first} yr after the "
                f"first, but --samples {samples} times --dt {dt:g} yr is {samples * dt:g} yr; take "
                "less, or leave planets out."
            )

    def _check_predictor(self) -> None:
        if self.predictor.model is None:
            if self.fit:
                raise OptionError("fit", "needs --model: the factory that trains.")
            return
        refused = [name for name in self.readouts if self.read_out(name).of_networks]
        if refused:
            raise OptionError(
                "readouts",
                f"asks for {' and '.join(refused)}, which is asked of networks of `worldmodel "
                "train` alone; leave that out with --model.",
            )
        if self.predictor.untrained_model is None and "inductive_bias" in self.readouts:
            raise OptionError(
                "readouts",
                "asks for inductive_bias, which needs the same model before training: give "
                "--untrained-model, or leave it out.",
            )
        lacking = {}
        if self.predictor.untrained_model is None:
            lacking["untrained"] = "needs the same model before training: give --untrained-model"
        if not self.fit and self.probe.trained_on is None and self.data is None:
            for name, control in PREDICTORS.items():
                if control.remembers:
                    lacking[name] = "looks up the training orbits: say them with --trained-on"
        missing = [name for name in self.controls if name in lacking]
        if missing and self.controls != type(self).controls:
            raise OptionError(
                "controls", f"asks for {missing[0]}, which {lacking[missing[0]]}, or leave it out."
            )
        kept = tuple(name for name in self.controls if name not in lacking)
        object.__setattr__(self, "controls", kept)

    @property
    def law(self) -> str:
        """The law of the training orbits."""
        return self.generate.law

    @property
    def folder(self) -> Path:
        """The run directory."""
        if self.out is not None:
            return Path(self.out)
        law = file_name(self.law if self.data is None else Path(self.data).stem)
        kind = file_name(self.train.attention)
        if self.predictor.model is not None:
            kind = file_name(Path(self.predictor.model).name)
            return Path("runs") / f"{law}-{kind}-seed{self.seed}"
        return Path("runs") / f"{law}-{kind}-context{self.train.context_length}-seed{self.seed}"

    @property
    def questions(self) -> tuple[str, ...]:
        """The read-outs of this model: one of tokens has no derivatives by position, and a verdict
        needs far states."""
        asked = [r for r in self.readouts if self.train.head != "tokens" or r != "jacobian"]
        if "kicked" in self.sources and self.law != UNKNOWN and "far" not in asked:
            asked.append("far")
        return tuple(asked)

    @property
    def held_out_count(self) -> int:
        """Orbits that the model never trains on."""
        return self.held_out_orbits or max(2, self.generate.orbits // 4)

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that decides a run's results, as JSON."""
        return {key: value for key, value in as_json(self).items() if key not in self.FREE}

    def write(self, folder: Path) -> None:
        """Identify a run directory."""
        write_json(folder / CONFIGURATION, self.identity)

    def read_out(self, question: str) -> ReadOut:
        """A question's read-out, with its options."""
        if question in TRANSFERS:
            return replace(self.probe.transfer, frozen="frozen" in question)
        return replace(self.probe, readout=question).read_out

    def controls_of(self, readout: str) -> tuple[str, ...]:
        """The controls to repeat a read-out with."""
        if readout in TRANSFERS:
            return tuple(name for name in self.controls if name == "untrained")
        # a read-out that takes any control says nothing of one by itself
        return self.controls if READ_OUTS[readout].controls is None else ()

    def title_of(self, readout: str, control: str) -> str:
        """A read-out, or the same with a control: NAME_CONTROL."""
        return readout if control == "none" else f"{readout}_{control}"

    @property
    def transfers(self) -> tuple[str, ...]:
        """The fine-tuned models of a run."""
        asked = [name for name in self.questions if name in TRANSFERS]
        every = [(name, c) for name in asked for c in ("none", *self.controls_of(name))]
        return tuple(self.title_of(name, control) for name, control in every)

    def orbits_of(self, count: int, seed: int, samples: int | None = None) -> GenerateConfig:
        """Options of a set of orbits like the training orbits."""
        options = replace(self.generate, orbits=count, seed=seed)
        return options if samples is None else replace(options, samples=samples)


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


def require_same_run(config: RunConfig, free: tuple[str, ...] = RunConfig.QUESTIONS) -> None:
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
    except (ValueError, AttributeError) as error:
        raise ValueError(
            f"{path} is damaged or was written by another version ({error}); choose another "
            "--out, or delete that folder."
        ) from None
    others = [
        f"{flag_of(RunConfig, name)} {option_value(earlier, name)} "
        f"(now {option_value(config, name)})"
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
