"""Probes of what a model has learned, and what they are made of.

    from worldmodel import probes

    probes.force_table(arcs, ...)

The names are listed in `__init__.pyi`. A probe's options are read for every command line, so
that its file imports nothing heavy: what it works with comes from here, at its first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
