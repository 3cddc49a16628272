import collections.abc
import typing

from .engines import ENGINES as ENGINES
from .estimator import LawRegressor as LawRegressor
from .experiments.config import RunConfig as RunConfig
from .experiments.figures.kicks import plot_kicks as plot_kicks
from .experiments.figures.law import plot_field as plot_field
from .experiments.figures.training import plot_training as plot_training
from .experiments.result import Run as Run
from .experiments.run import run as _run
from .experiments.study_figure import StudyFigure as StudyFigure
from .formulas.compare import Comparison as Comparison
from .formulas.compare import compare as compare
from .recovery.config import RecoverConfig as RecoverConfig
from .recovery.gates import Gate as Gate
from .recovery.plot import plot_pareto_front as plot_pareto_front
from .recovery.recover import recover as _recover
from .recovery.result import Quantity as Quantity
from .recovery.result import Recovery as Recovery
from .version import __version__ as __version__
from .weighing.config import WeighConfig as WeighConfig
from .weighing.result import Weighing as Weighing
from .weighing.weigh import weigh as _weigh

# Written by tests/signatures.py:

def run(
    config: RunConfig | None = None,
    *,
    predictor: typing.Any = None,
    untrained: collections.abc.Callable[..., typing.Any] | None = None,
    progress: collections.abc.Callable[[str], object] | bool | None = None,
    law: str = ...,
    system: typing.Literal['relative', 'barycentric'] = ...,
    orbits: int = ...,
    samples: int = ...,
    dt: float = ...,
    dimensions: typing.Literal[0, 2, 3] = ...,
    population: typing.Literal['controlled', 'exoplanets'] = ...,
    semi_major_axis: tuple[float, ...] = ...,
    eccentricity: tuple[float, ...] = ...,
    min_perihelion: float = ...,
    mass: tuple[float, ...] = ...,
    companion_mass: tuple[float, ...] = ...,
    simulator: str = ...,
    attention: str = ...,
    context_length: int = ...,
    window: int | None = ...,
    inputs: typing.Literal['coordinates', 'differences', 'logarithms'] = ...,
    outputs: typing.Literal['coordinates', 'logarithms'] = ...,
    norm: typing.Literal['layer', 'none'] = ...,
    target: str = ...,
    head: typing.Literal['regression', 'tokens'] = ...,
    bins: int = ...,
    bin_range: float = ...,
    layout: typing.Literal['joint', 'interleaved'] = ...,
    d_model: int = ...,
    n_layers: int = ...,
    n_heads: int = ...,
    steps: int = ...,
    batch_tokens: int = ...,
    muon_lr: float = ...,
    adamw_lr: float = ...,
    context_noise: float = ...,
    kicked: float = ...,
    precision: typing.Literal['32-true', 'bf16-mixed', 'bf16-true', '64-true'] = ...,
    accelerator: typing.Literal['auto', 'cpu', 'cuda'] = ...,
    devices: int = ...,
    model: str | None = ...,
    untrained_model: str | None = ...,
    model_context: int | None = ...,
    length_unit: str = ...,
    time_unit: str = ...,
    checkpoint: typing.Literal['last', 'best'] = ...,
    kick_angle: float = ...,
    kick_scale: tuple[float, float] = ...,
    engine: str = ...,
    guesses: tuple[str, ...] | str = ...,
    operators: tuple[str, ...] | str = ...,
    error_floor: float | None = ...,
    null: bool = ...,
    time_limit: float | None = ...,
    out: str | None = ...,
    seed: int = ...,
    data: str | None = ...,
    held_out_orbits: int = ...,
    sources: tuple[str, ...] = ...,
    bodies: tuple[str, ...] = ...,
    controls: tuple[str, ...] = ...,
    readouts: tuple[str, ...] = ...,
    fit: bool = ...,
    trained_on: str | None = ...,
    exam_seed: int | None = ...,
    search_seeds: int = ...,
    workers: int = ...,
) -> Run: ...

def recover(
    table: typing.Any,
    config: RecoverConfig | None = None,
    progress: collections.abc.Callable[[str], object] | bool | None = None,
    *,
    law: str | None = ...,
    target: str | None = ...,
    features: tuple[str, ...] | str = ...,
    groups: str | None = ...,
    units: tuple[str, ...] | str | collections.abc.Mapping[str, str] = ...,
    sigma: str | None = ...,
    errors: typing.Literal['additive', 'relative', 'logarithmic', 'counts'] | None = ...,
    trials: str | None = ...,
    sigma_of: tuple[str, ...] | str | collections.abc.Mapping[str, str | float] = ...,
    per_group: str | None = ...,
    bad_rows: typing.Literal['refuse', 'mend'] = ...,
    form: str | None = ...,
    engine: str = ...,
    guesses: tuple[str, ...] | str = ...,
    operators: tuple[str, ...] | str = ...,
    error_floor: float | None = ...,
    null: bool = ...,
    time_limit: float | None = ...,
    seed: int = ...,
    seeds: int = ...,
) -> Recovery: ...

def weigh(
    data: typing.Any,
    config: WeighConfig | None = None,
    progress: collections.abc.Callable[[str], object] | bool | None = None,
    *,
    law: str = ...,
    reference: str = ...,
    reference_mass: float = ...,
    noise: float = ...,
    orbit: int = ...,
    scales: float = ...,
    relativity: typing.Literal['none', 'einstein', 'fitted'] = ...,
    unseen: int = ...,
    engine: str = ...,
    seed: int = ...,
    seeds: int = ...,
    time_limit: float = ...,
) -> Weighing: ...
