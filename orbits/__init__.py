"""Simulate trajectories under a known force and keep them in checked datasets.

    import orbits

    data = orbits.generate(law="newton", orbits=1000, seed=0)  # an xarray.Dataset, in memory
    data.position                                              # (orbit, time, axis), au
    orbits.plot_orbits(data)
    orbits.validate("train.zarr")                              # a path is as good as a dataset

Importing the package is quick: each name in `__init__.pyi` is imported on first use.
"""

import lazy_loader

# No public name may be that of a module: importing the module would replace it.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
