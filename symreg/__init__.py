"""Turn forces into a formula, and compare the formula with the laws of physics.

    import symreg

    law = symreg.recover(forces)                 # of worldmodel.probe, a DataFrame or a file
    law.expression, law.recovered, law.explanation
    law.predict({"r": [0.5, 1.0]})

    symreg.recover(table, target="F", features="r,m1,m2")
    symreg.compare("39.5/r**2", "newton").verdict
    symreg.run(law="hooke", seed=1)              # the whole path, with controls

The names are listed in `__init__.pyi`; what a name needs is imported on first use. Julia runs in
its own process.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
