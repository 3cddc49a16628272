"""Every option of every command is given once, to a command that comes to its end."""

import math
import shlex
from importlib import import_module

import pytest

from orbits.options import option_names

PROGRAMS = ("orbits", "worldmodel", "symreg")
COMMANDS = {
    (program, command.name): command
    for program in PROGRAMS
    for command in import_module(f"{program}.cli").COMMANDS
}

NETWORK = (
    "--attention lssar(p=2) --context-length 3 --window 2 --inputs differences "
    "--outputs coordinates --norm layer --d-model 16 --n-layers 1 --n-heads 2 "
    "--batch-tokens 64 --muon-lr 0.01 "
    "--adamw-lr 0.001 --warmup 2 "
    "--context-noise 1e-5 --kicked 0.3 --evaluate-every 2 "
    "--precision bf16-mixed --accelerator cpu --stream"
)
TRANSFER = (
    "labelled=4,few=2,target=vector,few_labels=1,learner=last_block,shuffled=true,points=20,"
    "steps=3,batch_tokens=32"
)
KICK = "--kick-angle 0.3 --kick-scale 0.9 1.05 --kick-steps 4"
SEARCH = (
    "--engine auto(niterations=3) --operators +,*,inv --guesses 39/r^2 --seeds 2 "
    "--error-floor 0.03 --no-null --time-limit 60"
)
ORBITS = "--orbits 12 --samples 24 --seed 5"

LINES = f"""
orbits generate d.zarr {ORBITS} --law power_law(n=2.5) --dt 0.01 --dimensions 3 \
    --population exoplanets --semi-major-axis 0.5 1.5 --eccentricity 0.1 0.3 --min-perihelion 0.3 \
    --mass 0.8 1.2 --simulator scipy --dtype float64 --shard-orbits 6 --workers 2
orbits generate pair.zarr {ORBITS} --system barycentric --companion-mass 0.1 0.5
orbits generate many.zarr {ORBITS} --system nbody --planets 2 --hill-spacing 12
orbits generate flat.zarr --orbits 40 --samples 64 --simulator kepler
orbits ephemeris planets.zarr --bodies earth mars --start 2000 --stop 2004.5 --dt 0.02 \
    --samples 50 --frame ecliptic
orbits ephemeris solar.zarr --together --bodies sun jupiter saturn --frame icrf \
    --start 2000 --stop 2030 --dt 0.02 --samples 1400
orbits import stars.csv stars.zarr --time when --position x1,y1 x2,y2 --velocity u1,v1 u2,v2 \
    --orbit run --time-unit d --length-unit km --samples 60 --position x3,y3 \
    --velocity u3,v3
orbits import long.csv long.zarr --body name --origin star
orbits forces pair.zarr measured.parquet --noise 1e-7
orbits info d.zarr
orbits validate d.zarr
orbits plot d.zarr d.png --orbits 3
worldmodel train flat.zarr model {NETWORK} --held-out-share 0.2 --threads 1 \
    --seed 3 --steps 6 \
    --target position
worldmodel train flat.zarr ranks --steps 2 --devices 2 --batch-tokens 64 --d-model 16 --n-heads 2
worldmodel train flat.zarr bins --steps 2 --head tokens --bins 50 --bin-range 3 \
    --layout interleaved --d-model 16 --n-heads 2 --context-length 4
worldmodel train flat.zarr plain --steps 4 --d-model 16 --n-heads 2
worldmodel probe plain flat.zarr forces.parquet --checkpoint best --states kicked --threads 1 \
    --control none --correction none --orbits 20 --seed 1 --trained-on flat.zarr {KICK}
worldmodel probe plain flat.zarr jacobian.json --readout jacobian(states=5)
worldmodel probe plain flat.zarr response.json --readout kick_response(steps=4)
worldmodel probe plain flat.zarr linear.json --readout linear(states=60)
worldmodel probe plain flat.zarr causal.json --readout causal(states=60,steps=2)
worldmodel probe plain flat.zarr tuned.parquet --readout transfer({TRANSFER})
worldmodel probe plain flat.zarr far.json --readout far(count=60,beside=false) --exam-seed 3
worldmodel probe --model own.py:step flat.zarr own.parquet --model-context 2 --length-unit km \
    --time-unit d --untrained-model own.py:fresh
worldmodel probe bins flat.zarr errors.json --readout evaluate(steps=5)
worldmodel probe plain flat.zarr longer.json --readout "extrapolate(factors=1 2)"
worldmodel attention plain flat.zarr maps.png --checkpoint best --orbit 2 --length 2
symreg recover forces.parquet law.json --law newton --seed 3 {SEARCH}
symreg recover own.csv own.json --target F --features r --groups g --units r=au,F=au/yr^2 \
    --sigma s --sigma-of r=1% --seeds 1 --no-null
symreg recover own.csv form.json --target F --features r --form a/r**b --errors relative --no-null \
    --per-group g --bad-rows mend
symreg recover shares.csv shares.json --target p --features r --form exp(-a*r) --trials n --no-null
orbits import many.csv x.zarr --orbit run --law newton --gm 39.44
symreg recover long.csv moved.json --trajectories --body name --time time \
    --position x,y --seeds 1 --no-null --engine projection --noise 1e-6
symreg recover stars.csv three.json --trajectories --time when --position x1,y1 x2,y2 \
    --velocity u1,v1 u2,v2 --orbit run --time-unit d --length-unit km --samples 60 \
    --seeds 1 --no-null --engine projection
symreg recover long.csv star.json --trajectories --body name --origin star --seeds 1 --no-null \
    --engine projection
symreg weigh solar.zarr searched.json --engine projection --seed 1 --seeds 1 --time-limit 60
symreg weigh solar.zarr masses.json --law newton --reference sun \
    --reference-mass 1 --noise 1e-9 --orbit 0 --scales 2 --relativity einstein
symreg weigh solar.zarr unseen.json --law newton --relativity fitted --unseen 1
symreg compare 2*k/x^2 3/x^2 --variables x --low 0.5 --high 2 --margin 0.1 --limit 20
symreg engines
symreg study small.yaml --out study --workers 1 --minutes 30
symreg run --data x.zarr --out mine --sources orbit --controls untrained --steps 4 --d-model 16 \
    --readouts evaluate(steps=5) \
    --n-heads 2 --search-seeds 1
symreg run --out own --workers 2 --seed 1 --held-out-orbits 12 --sources kicked \
    --controls injected --readouts jacobian(states=10) \
    --orbits 40 --samples 48 --simulator kepler --model own.py:trains --fit \
    --untrained-model own.py:fresh --model-context 2 --length-unit au --time-unit yr \
    --trained-on flat.zarr --search-seeds 1
symreg run --out run --workers 2 --seed 1 --exam-seed 4 --held-out-orbits 12 \
    --sources orbit kicked \
    --controls injected untrained keplerian --bodies earth \
    --readouts jacobian(states=10) kick_response(steps=3) linear(states=60) \
    causal(states=60,steps=2) evaluate(steps=5) extrapolate \
    transfer(labelled=4,few=2,points=20,steps=3,batch_tokens=32) \
    --law power_law(n=2.2) --system relative --orbits 40 --samples 48 --dt 0.01 --dimensions 2 \
    --population controlled --semi-major-axis 0.5 1.2 --eccentricity 0 0.3 --min-perihelion 0.3 \
    --mass 1 1 --companion-mass 1 1 --simulator scipy \
    --attention lssar(p=2) --context-length 3 --window 2 --inputs differences \
    --outputs coordinates --norm layer --d-model 16 --n-layers 1 --n-heads 2 \
    --batch-tokens 64 --muon-lr 0.01 --adamw-lr 0.001 --steps 6 \
    --context-noise 1e-5 --kicked 0.3 --precision bf16-mixed --accelerator cpu --devices 1 \
    --target displacement --head regression --bins 100 --bin-range 10 --layout joint \
    --checkpoint best --kick-angle 0.3 --kick-scale 0.9 1.05 \
    --engine auto(niterations=3) --operators +,*,inv --guesses 39/r^2 --search-seeds 2 \
    --error-floor 0.03 --no-null \
    --time-limit 60
"""

STUDY = """
name: small
question: is it there?
base: {orbits: 30, steps: 2, search_seeds: 2, sources: [orbit], controls: [], readouts: [],
  simulator: kepler}
grid: {seed: [0]}
"""
OWN = """
import numpy as np

def step(x):
    return np.concatenate((x[:, :1], 2 * x[:, 1:] - x[:, :-1]), axis=1)

class Still:
    context_length = 2
    predict = staticmethod(step)

def fresh(seed):
    return Still()

def trains(data, folder, seed):
    return Still()
"""
LEFT_OUT = {
    ("orbits", "generate", "scheduler"): "tests/orbits/test_cluster.py",
    ("symreg", "engines", "install"): "tests/symreg/test_pysr.py",
    ("symreg", "study", "scheduler"): "tests/symreg/test_study.py",
}


def flags(command):
    """Options of a command by what is typed."""
    return {name.replace("_", "-"): name for name in option_names(command.config)}


def lines():
    for line in LINES.replace("\\\n", " ").strip().splitlines():
        program, name, *words = shlex.split(line)
        yield program, name, words


def spelled(command, words):
    """The words with every option by its full name, and the options that they give."""
    known, given, result = flags(command), set(), []
    for word in words:
        if word.startswith("--"):
            bare = word[2:]
            no = bare.startswith("no-") and bare[3:] in known
            name = known[bare[3:] if no else bare]
            given.add(name)
            word = f"--{'no-' if no else ''}{name.replace('_', '-')}"
        result.append(word)
    return result, given


def test_no_option_was_forgotten():
    missing = {
        (*key, name) for key, command in COMMANDS.items() for name in option_names(command.config)
    }
    for program, name, words in lines():
        for option in spelled(COMMANDS[program, name], words)[1]:
            missing.discard((program, name, option))
    assert missing - LEFT_OUT.keys() == set()


def write_trajectories(folder):
    """Tables of trajectories: three bodies side by side in km and days, and one below the other."""
    au = 149_597_870.7
    wide = "when,run," + ",".join(f"{n}{k}" for k in (1, 2, 3) for n in "xyuv") + "\n"
    long = "time,name,x,y\n"
    for i in range(200):
        t, row, turn = 0.01 * i, "", 2 * math.pi
        for k in (1, 2, 3):
            x, y = k * math.cos(turn * t / k), k * math.sin(turn * t / k)
            row += f",{x * au},{y * au},{-y * turn / k * au / 365.25},{x * turn / k * au / 365.25}"
            long += f"{t},b{k},{x},{y}\n"
        wide += f"{365.25 * t},{i // 100}{row}\n"
    many = "time,run,x,y\n"
    for i in range(40 * 32):
        t, run = 0.02 * (i % 32), i // 32
        a = 0.5 + 0.05 * run  # circles of several sizes: kicked states lie between them
        angle = 6.28 * t / a**1.5 + run
        many += f"{t},{run},{a * math.cos(angle)},{a * math.sin(angle)}\n"
    (folder / "many.csv").write_text(many)
    (folder / "stars.csv").write_text(wide)
    (folder / "long.csv").write_text(long)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("every")
    (folder / "small.yaml").write_text(STUDY)
    (folder / "own.py").write_text(OWN)
    rows = [(0.4 + 0.05 * i) for i in range(40)]
    (folder / "own.csv").write_text(
        "r,F,g,s\n" + "".join(f"{r},{39.5 / r**2},{i % 8},0.01\n" for i, r in enumerate(rows))
    )
    shares = "".join(f"{r},{round(20 * math.exp(-r)) / 20},20\n" for r in rows)
    (folder / "shares.csv").write_text(f"r,p,n\n{shares}")
    write_trajectories(folder)
    return folder


@pytest.mark.slow
def test_every_option_once(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    for program, name, words in lines():
        command = [name, *spelled(COMMANDS[program, name], words)[0]]
        code = import_module(f"{program}.cli").main(command)
        assert code == 0, f"{shlex.join([program, *command])}\n{capsys.readouterr().err[-2000:]}"
