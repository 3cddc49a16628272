"""Figures of studies behind one contract (`base`), one file each."""

from orbits.registry import Registry
from symreg.experiments.study_figures.base import StudyFigure

__all__ = ["FIGURES", "StudyFigure"]

FIGURES: Registry[StudyFigure] = Registry("symreg.experiments.study_figures", StudyFigure)
"""By the name in a study's `figure`."""
