"""The command `worldmodel`."""

from orbits.command.parser import Command, Positional
from orbits.command.parser import main as run_commands
from worldmodel.config import EvaluateConfig, TrainConfig
from worldmodel.probes.config import ProbeConfig
from worldmodel.studies import ExtrapolateConfig, PlotConfig, RetrievalConfig

DATA = Positional("data", "data set (Zarr), as `orbits generate` or `orbits ephemeris` writes it")
RUN = Positional("run", "folder of a run, as `worldmodel train` writes it")


def _train(data: str, run: str, config: TrainConfig) -> None:
    from worldmodel.training import train

    train(data, run, config)


def _probe(run: str, data: str, out: str, config: ProbeConfig) -> None:
    from worldmodel.probes.probe import probe

    probe(run, data, out, config)


def _extrapolate(runs: list[str], data: str, config: ExtrapolateConfig) -> None:
    from worldmodel.extrapolation import extrapolate

    extrapolate(runs, data, config)


def _retrieval(out: str, config: RetrievalConfig) -> None:
    from worldmodel.retrieval import retrieval

    retrieval(out, config)


def _plot(what: str, paths: list[str], config: PlotConfig) -> None:
    from worldmodel.plot import draw

    draw(what, paths, config)


def _evaluate(run: str, data: str, out: str, config: EvaluateConfig) -> None:
    from worldmodel.evaluation import evaluate

    evaluate(run, data, out, config)


COMMANDS = (
    Command(
        "train",
        _train,
        TrainConfig,
        "Train a transformer to predict the next position.",
        (DATA, Positional("run", "folder that receives the run")),
    ),
    Command(
        "probe",
        _probe,
        ProbeConfig,
        "Read what a model has learned: --readout says what, --control what instead of the model.",
        (
            RUN,
            DATA,
            Positional("out", "file that receives force samples (Parquet) or numbers (JSON)"),
        ),
    ),
    Command(
        "evaluate",
        _evaluate,
        EvaluateConfig,
        "Measure next-step loss, roll-out errors and drifts of invariants.",
        (RUN, DATA, Positional("out", "JSON file that receives the numbers")),
    ),
    Command(
        "extrapolate",
        _extrapolate,
        ExtrapolateConfig,
        "Loss of one or several runs on sequences longer than those of training.",
        (Positional("runs", "folders of runs, as `worldmodel train` writes them", "+"), DATA),
    ),
    Command(
        "retrieval",
        _retrieval,
        RetrievalConfig,
        "Train each kind of attention to reproduce a marked value from far back.",
        (Positional("out", "folder that receives table and figure"),),
    ),
    Command(
        "plot",
        _plot,
        PlotConfig,
        "Draw `attention RUN DATA OUT.png` (maps of a run) or `entropy OUT.png` (of the kinds).",
        (
            Positional("what", "attention or entropy"),
            Positional("paths", "RUN DATA OUT.png, or OUT.png", "+"),
        ),
    ),
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return run_commands("worldmodel", COMMANDS, arguments)
