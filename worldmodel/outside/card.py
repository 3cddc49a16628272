"""A folder that stands for a model of the user's own: what it is, and where its code lies."""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orbits.records.files import (
    read_json,
    require_output,
    sha256_of_file,
    sha256_of_json,
    write_json,
)
from worldmodel.outside import channel
from worldmodel.outside.config import AdoptConfig, OutsideConfig, is_served
from worldmodel.outside.loading import made, resolved, source_of
from worldmodel.outside.model import OutsideModel, circles, require_step

CARD = "card.json"
FORMAT, FORMAT_VERSION = "principia-model-card", 1


def adopt(folder: str | os.PathLike[str], config: AdoptConfig) -> OutsideModel:
    """Look at a model of the user's own, and write the card that the other commands read.

    A factory that takes `data`, `folder`, `seed` or `dt` is told them; one that trains keeps its
    weights in the folder, and finds them there when it is called again.

    Args:
        folder: receives `card.json`.
        config: the model, and the world that it will see.

    Raises:
        ValueError: if the model cannot be made, or its answers do not fit: shape, type, finiteness,
            step.
    """
    if config.model is None:
        raise ValueError("no model is given; say --model package.module:make or mine.py:make.")
    place = require_output(Path(folder))
    if place.is_dir() and not (place / CARD).exists() and any(place.glob("config.json")):
        raise ValueError(f"{folder} holds a run of `worldmodel train`; give another folder.")
    told = {
        "data": None if config.data is None else str(Path(config.data).resolve()),
        "seed": config.seed,
        "dt": config.dt,
    }
    spec, fresh = config.model, config.untrained_model
    spec = spec if is_served(spec) else resolved(spec)
    fresh = fresh if fresh is None or is_served(fresh) else resolved(fresh)
    own = {**dataclasses.asdict(_own(config)), "model": spec, "untrained_model": fresh}
    _require_no_other_weights(place, own, told, spec)
    place.mkdir(parents=True, exist_ok=True)
    model = _opened(spec, fresh, told | {"folder": str(place.resolve())}, _own(config))
    require_fitting(model, config)
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "options": own,
        "told": told,
        "code": model.code,
        "context_length": model.context_length,
        "fingerprint": model.fingerprint,
    }
    write_json(place / CARD, content | {"sha256": sha256_of_json(content)})
    return model


def _require_no_other_weights(
    place: Path, options: dict[str, Any], told: dict[str, Any], spec: str
) -> None:
    """Raise ValueError if a folder holds what another factory, seed or data left there."""
    card = place / CARD
    if not card.exists() or not any(p.name != CARD for p in place.iterdir()):
        return
    earlier = read_json(card)
    now = {"options": options, "told": told, "code": _code(spec)}
    changed = [name for name, value in now.items() if earlier.get(name) != value]
    if changed:
        raise ValueError(
            f"{place} holds the weights of another model (other {' and '.join(changed)}); give "
            "another folder, or remove that one."
        )


def _code(spec: str) -> str | None:
    """SHA-256 of the file that a spec's code lies in."""
    if is_served(spec):
        return None
    place = source_of(spec)
    return None if place is None or not place.is_file() else sha256_of_file(place)


def require_fitting(model: OutsideModel, config: AdoptConfig) -> None:
    """Raise ValueError unless a model answers what a world of this step and shape will ask."""
    require_step(model.predictor, config.dt, model.config, "the data")
    axes, bodies = config.axes, config.bodies
    model.predict(circles(model.context_length + 3, axes, bodies, config.dt))


def opened(folder: str | os.PathLike[str]) -> OutsideModel:
    """The model that a folder's card stands for, made again.

    Raises:
        ValueError: if the card is damaged, or the code has changed since.
    """
    path = Path(folder) / CARD
    content = read_json(path)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is no card of a model; `worldmodel adopt` writes one.")
    if content.pop("sha256", None) != sha256_of_json(content):
        raise ValueError(f"{path} is damaged: it was changed after it was written; adopt it again.")
    options = dict(content["options"])
    config = OutsideConfig(**options)
    assert config.model is not None  # for the type checker: a card has one
    told = content["told"] | {"folder": str(Path(folder).resolve())}
    model = _opened(config.model, config.untrained_model, told, config)
    if model.code != content["code"]:
        raise ValueError(
            f"the code of {config.model} has changed since it was adopted; "
            "run `worldmodel adopt` (or `symreg run`) again."
        )
    return model


def of_options(config: OutsideConfig, told: dict[str, Any]) -> OutsideModel:
    """The model that `--model` means, without a folder.

    Raises:
        ValueError: if it cannot be made.
    """
    assert config.model is not None  # for the type checker: it was asked for
    return _opened(config.model, config.untrained_model, told, config)


def _opened(
    spec: str, fresh: str | None, told: dict[str, Any], config: OutsideConfig
) -> OutsideModel:
    if is_served(spec):
        return channel.served(spec, config)
    untrained: Callable[..., Any] | None = None
    if fresh is not None:
        untrained = _maker(fresh)
    model = OutsideModel(made(spec, told), config, untrained, spec, _code(spec))
    model.trained_on = told.get("data")
    return model


def _maker(spec: str) -> Callable[..., Any]:
    """The factory of an untrained model: it is named when it is needed."""
    source_of(spec)

    def make(seed: int) -> Any:
        return made(spec, {"seed": seed})

    return make


def _own(config: OutsideConfig) -> OutsideConfig:
    """The options of the model alone."""
    names = [field.name for field in dataclasses.fields(OutsideConfig)]
    return OutsideConfig(**{name: getattr(config, name) for name in names})


def is_card(folder: object) -> bool:
    """Whether a folder stands for a model of the user's own."""
    return isinstance(folder, (str, os.PathLike)) and (Path(folder) / CARD).is_file()
