"""Train sequence models on trajectories and read off the force they learned.

    import worldmodel

    model = worldmodel.train(data, attention="lssar(p=3)", context_length=2)  # a WorldModel
    forces = worldmodel.probe(model, data, states="kicked")                   # ForceSamples

    model = worldmodel.WorldModel.load("runs/newton/model")
    predicted = model.predict(positions)       # (orbit, time, axis): the next position, au
    continued = model.rollout(positions, 100)  # (orbit, 100, axis)
    weights = model.attention(positions)       # (layer, orbit, head, query, key)

    worldmodel.probe(step, data, model_context=2)    # any other model: a function of positions

`data` is a data set from `orbits`, or its path. The names are listed in `__init__.pyi`; importing
the package does not import torch; the first use of a name does.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
