"""Trackers: where training metrics go besides `metrics.jsonl`, if anywhere.

Each is a Lightning logger fed through Fabric; the packages are optional.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROJECT = "orbitlaw"
"""Project name for the runs."""
NEEDED = {
    "tensorboard": "tensorboardX",
    "wandb": "wandb pytorch-lightning",
    "mlflow": "mlflow pytorch-lightning",
}
"""Packages to install, by tracker."""


def _logger(name: str, run: Path) -> Any:
    if name == "tensorboard":
        from lightning_fabric.loggers import TensorBoardLogger

        return TensorBoardLogger(run, name=name, version="")
    from pytorch_lightning.loggers import MLFlowLogger, WandbLogger

    if name == "wandb":
        return WandbLogger(name=run.name, project=PROJECT, save_dir=run)
    where = f"file:{run.absolute() / 'mlruns'}"
    return MLFlowLogger(experiment_name=PROJECT, run_name=run.name, tracking_uri=where)


def tracker(name: str, run: Path, options: Mapping[str, Any]) -> Any:
    """A logger that writes below a run's folder, given the run's options; ValueError if a package
    that it needs is not installed (says which)."""
    try:
        made = _logger(name, run)
    except ImportError:
        raise ValueError(
            f"--logger {name} needs more than is installed: pip install {NEEDED[name]}, or take "
            "--logger jsonl."
        ) from None
    made.log_hyperparams(dict(options))
    return made
