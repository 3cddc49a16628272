"""Systems of bodies: sampled, integrated, and measured, shard by shard."""

from orbits.systems.quality import body_drifts, relative_drifts, relative_error
from orbits.systems.recipe import Recipe, choose_check_engine, choose_engine, resolve
from orbits.systems.shard import CHECKED_SHARE, Arrays, Quality, make_shard

__all__ = [
    "CHECKED_SHARE",
    "Arrays",
    "Quality",
    "Recipe",
    "body_drifts",
    "choose_check_engine",
    "choose_engine",
    "make_shard",
    "relative_drifts",
    "relative_error",
    "resolve",
]
