"""Families of models, one short file each, to be asked and to be copied: `symreg study zoo`.

Each has a factory `make` for `--model worldmodel.zoo.lstm:make`. One that trains takes `data`,
`seed` and `folder`, where its weights stay (`symreg run --fit`).
"""
