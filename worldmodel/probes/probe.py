"""The command `worldmodel probe`: one read-out of one model, written to one file."""

import dataclasses
from pathlib import Path
from typing import Any

from orbits.records.files import write_json
from orbits.records.force_samples import write_force_samples
from orbits.records.provenance import provenance
from worldmodel.probes.config import TABLES, ProbeConfig
from worldmodel.probes.readouts import READOUTS
from worldmodel.probes.subject import Subject

FORMAT = "principia-probe"
FORMAT_VERSION = 1


def probe(run: str, data: str, out: str, config: ProbeConfig) -> dict[str, Any]:
    """Read what a model has learned, and write it.

    Args:
        run: folder of a run.
        data: data set whose states are shown to the model.
        out: receives force samples (Parquet) or JSON, as the read-out has it.
        config: which read-out, of what.

    Returns:
        The metrics, as stored in the file.

    Raises:
        ValueError: if the run, the data and the options do not fit together.
    """
    _require_fitting_name(out, config.readout)
    subject = Subject(run, data, config)
    reading = READOUTS[config.readout](subject)
    attributes = {
        "readout": config.readout,
        "states": reading.states,
        "model": subject.identity(),
        "law": subject.facts.law,
        "dt": subject.facts.dt,
        "metrics": reading.metrics,
        **reading.details,
        "data": dataclasses.asdict(subject.facts),
        **provenance(config),
    }
    if reading.table is not None:
        write_force_samples(out, reading.table, attributes)
    else:
        write_json(out, {"format": FORMAT, "format_version": FORMAT_VERSION, **attributes})
    print(reading.text)
    return reading.metrics


def _require_fitting_name(out: str, readout: str) -> None:
    """Refuse a name that says Parquet for JSON, or JSON for Parquet."""
    wrong, right = (".json", "Parquet") if readout in TABLES else (".parquet", "JSON")
    if Path(out).suffix == wrong:
        raise ValueError(
            f"the read-out {readout} writes {right}, but {out} ends in {wrong}; give another name."
        )
