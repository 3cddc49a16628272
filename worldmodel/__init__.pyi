import collections.abc
import os
import typing

import orbits

from .animation import Animation as Animation
from .animation import animate as animate
from .attention import Visible as Visible
from .attention import attention_kinds as attention_kinds
from .attention import make_attention as make_attention
from .config import PredictorConfig as PredictorConfig
from .config import TrainConfig as TrainConfig
from .controls.autoregression import Autoregression as Autoregression
from .controls.copiers import Parrot as Parrot
from .controls.straight_line import StraightLine as StraightLine
from .interventions import ablate as ablate
from .interventions import exchange as exchange
from .interventions import intervene as intervene
from .interventions import steer as steer
from .loading import load_predictor as load_predictor
from .own_predictor import CheckedPredictor as CheckedPredictor
from .plot import ATTENTION_COLORS as ATTENTION_COLORS
from .plot import plot_attention as plot_attention
from .plot import plot_validity as plot_validity
from .predictor import Predictor as Predictor
from .predictor import by_windows as by_windows
from .probes.config import ProbeConfig as ProbeConfig
from .probes.probe import probe as _probe
from .probes.readouts.base import Reading as Reading
from .probes.readouts.base import ReadOut as ReadOut
from .torch_module import TorchModule as TorchModule
from .training import train as _train
from .version import __version__ as __version__
from .world_model import WorldModel as WorldModel

# Written by tests/signatures.py:

def train(
    data: typing.Any,
    config: TrainConfig | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: collections.abc.Callable[[str], object] | bool | None = None,
    *,
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
    seed: int = ...,
    warmup: int = ...,
    held_out_share: float = ...,
    evaluate_every: int = ...,
    threads: int = ...,
    stream: bool = ...,
) -> WorldModel: ...

@typing.overload
def probe(
    model: typing.Any,
    data: typing.Any,
    config: None = None,
    *,
    readout: typing.Literal['implied', 'transfer'] = 'implied',
    untrained: collections.abc.Callable[..., typing.Any] | None = None,
    trained_on: typing.Any = None,
    progress: bool | None = None,
    kick_angle: float = ...,
    kick_scale: tuple[float, float] = ...,
    threads: int = ...,
    checkpoint: typing.Literal['last', 'best'] = ...,
    control: str = ...,
    states: typing.Literal['orbit', 'kicked'] = ...,
    correction: typing.Literal['numerov', 'none'] = ...,
    orbits: int = ...,
    kick_steps: int = ...,
    seed: int = ...,
    exam_seed: int | None = ...,
    model_context: int | None = ...,
    length_unit: str = ...,
    time_unit: str = ...,
) -> orbits.ForceSamples: ...

@typing.overload
def probe(
    model: typing.Any,
    data: typing.Any,
    config: None = None,
    *,
    readout: typing.Literal['causal', 'evaluate', 'extrapolate', 'far', 'jacobian', 'kick_response', 'linear'],
    untrained: collections.abc.Callable[..., typing.Any] | None = None,
    trained_on: typing.Any = None,
    progress: bool | None = None,
    kick_angle: float = ...,
    kick_scale: tuple[float, float] = ...,
    threads: int = ...,
    checkpoint: typing.Literal['last', 'best'] = ...,
    control: str = ...,
    states: typing.Literal['orbit', 'kicked'] = ...,
    correction: typing.Literal['numerov', 'none'] = ...,
    orbits: int = ...,
    kick_steps: int = ...,
    seed: int = ...,
    exam_seed: int | None = ...,
    model_context: int | None = ...,
    length_unit: str = ...,
    time_unit: str = ...,
) -> Reading: ...

@typing.overload
def probe(
    model: typing.Any,
    data: typing.Any,
    config: ProbeConfig | None = None,
    *,
    readout: str | ReadOut = ...,
    untrained: collections.abc.Callable[..., typing.Any] | None = None,
    trained_on: typing.Any = None,
    progress: bool | None = None,
    kick_angle: float = ...,
    kick_scale: tuple[float, float] = ...,
    threads: int = ...,
    checkpoint: typing.Literal['last', 'best'] = ...,
    control: str = ...,
    states: typing.Literal['orbit', 'kicked'] = ...,
    correction: typing.Literal['numerov', 'none'] = ...,
    orbits: int = ...,
    kick_steps: int = ...,
    seed: int = ...,
    exam_seed: int | None = ...,
    model_context: int | None = ...,
    length_unit: str = ...,
    time_unit: str = ...,
) -> orbits.ForceSamples | Reading: ...
