"""Trackers: where training metrics go besides `metrics.jsonl`, if anywhere.

Each is a Lightning logger fed through Fabric; the packages are optional.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PROJECT = "principia"
"""Project name for the runs."""
TENSORBOARD, WANDB, MLFLOW = "tensorboard", "wandb", "mlflow"
NEEDED = {
    TENSORBOARD: "tensorboardX",
    WANDB: "wandb pytorch-lightning",
    MLFLOW: "mlflow pytorch-lightning",
}
"""Packages to install, by tracker."""


def _tensorboard(run: Path) -> Any:
    from lightning_fabric.loggers import TensorBoardLogger

    return TensorBoardLogger(run, name=TENSORBOARD, version="")


def _wandb(run: Path) -> Any:
    from pytorch_lightning.loggers import WandbLogger

    return WandbLogger(name=run.name, project=PROJECT, save_dir=run)


def _mlflow(run: Path) -> Any:
    from pytorch_lightning.loggers import MLFlowLogger

    where = f"file:{run.absolute() / 'mlruns'}"
    return MLFlowLogger(experiment_name=PROJECT, run_name=run.name, tracking_uri=where)


TRACKERS: dict[str, Callable[[Path], Any]] = {
    TENSORBOARD: _tensorboard, WANDB: _wandb, MLFLOW: _mlflow,
}  # fmt: skip


def tracker(name: str, run: Path, options: Mapping[str, Any]) -> Any:
    """A logger that writes below a run's folder, given the run's options.

    Args:
        name: of the tracker.
        run: the folder.
        options: of the run, flat.

    Raises:
        ValueError: if a package it needs is not installed (says which).
    """
    try:
        made = TRACKERS[name](run)
    except ImportError:
        raise ValueError(
            f"--logger {name} needs more than is installed: pip install {NEEDED[name]}, or take "
            "--logger jsonl."
        ) from None
    made.log_hyperparams(dict(options))
    return made
