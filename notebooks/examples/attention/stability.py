"""How exact each kind of attention is in few digits, as scores and sequences grow.

    python notebooks/examples/attention/stability.py stability

writes `stability.csv` and `stability.png`: the error of output and gradients against float64, of
the same rounded queries, keys and values. `kept` is the package's own path, which normalises the
scores of half-precision models in float32; `bare` the formula in the model's numbers throughout.
"""

import argparse
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from unittest import mock

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from tqdm import tqdm

from worldmodel.attention import Visible, attention_kinds, make_attention

SCALES = (1.0, 10.0, 100.0, 1e3, 1e4)
LENGTHS = (64, 256, 1024, 4096, 16384)
NUMBERS = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
D_HEAD, QUERIES = 64, 8
PATHS = {"kept": "as it is computed here", "bare": "the formula alone"}


@contextmanager
def formula_alone():
    """Scores are made and normalised in the numbers that they come in."""
    modules = [m for name, m in sys.modules.items() if name.startswith("worldmodel.attention")]
    with ExitStack() as stack:
        for module in modules:
            if "widened" in vars(module):
                stack.enter_context(mock.patch.object(module, "widened", lambda values: values))
        yield


def inputs(kind, scale, length, dtype, seed):
    """The last queries of a sequence, its keys and values, and what the kind reads, rounded."""
    generator = torch.Generator().manual_seed(seed)
    attention = make_attention(kind, D_HEAD, 1)
    shapes = [
        (1, attention.query_sets, QUERIES, D_HEAD),
        (1, 1, length, D_HEAD),
        (1, 1, length, D_HEAD),
    ]
    drawn = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]
    drawn[0] = drawn[0] * scale  # scores q·k/√d have this standard deviation
    if attention.reads:
        read = torch.randn(1, 1, length, attention.reads, generator=generator).double()
        drawn.append(read + (4.0 if kind == "forgetting" else 0.0))  # that keeps 98 % each time
    return attention, [x.to(dtype) for x in drawn]


def answer(attention, given, dtype, bare):
    """Output and gradients, as float64."""
    given = [x.to(dtype).detach().requires_grad_() for x in given]
    q, k, v, *read = given
    visible = Visible(query_offset=k.shape[2] - QUERIES)
    attention = attention.to(dtype)
    if bare:
        with formula_alone():
            q, k, v = attention.begin(q, k, v, visible, *(read or [None]))
            output = attention.full_weights(q, k, visible) @ v
            output = attention.finish(output, visible, *(read or [None]))
    else:
        output = attention(q, k, v, visible, *read)
    torch.manual_seed(0)
    output.backward(torch.randn(output.shape).to(dtype))
    slopes = [x.grad.double().flatten() for x in given]
    return output.detach().double().flatten(), torch.cat(slopes)


def off(found, truth):
    """Relative root mean square error; infinite where a number is none."""
    if not found.isfinite().all():
        return float("inf")
    return float((found - truth).norm() / truth.norm().clamp(min=1e-300))


def measure(kinds, seeds):
    """A row for each kind, number format, path, scale and length, with means over the seeds."""
    rows = []
    places = [(scale, 1024) for scale in SCALES] + [(1.0, length) for length in LENGTHS]
    for kind in tqdm(kinds, desc="kinds"):
        for name, dtype in NUMBERS.items():
            for scale, length in dict.fromkeys(places):
                for bare in (False, True):
                    errors = []
                    for seed in range(seeds):
                        attention, given = inputs(kind, scale, length, dtype, seed)
                        truth = answer(attention, given, torch.float64, False)
                        found = answer(attention, given, dtype, bare)
                        errors.append([off(a, b) for a, b in zip(found, truth, strict=True)])
                    output, slope = torch.tensor(errors, dtype=torch.float64).mean(0).tolist()
                    rows.append({
                        "kind": kind, "numbers": name, "path": "bare" if bare else "kept",
                        "scale": scale, "length": length, "output": output, "gradient": slope,
                    })  # fmt: skip
    return pd.DataFrame(rows)


def draw(table, path):
    """A map for each number format and path: a row for each kind, by scale, then by length."""
    kinds, places = list(table["kind"].unique()), [("scale", v) for v in SCALES]
    places += [("length", v) for v in LENGTHS]
    figure, panels = plt.subplots(
        2, 3, figsize=(11, 7), layout="constrained", sharex=True, sharey=True
    )
    colors = plt.get_cmap("viridis").copy()
    colors.set_bad("#222222")
    for row, (path_name, title) in zip(panels, PATHS.items(), strict=True):
        for axes, name in zip(row, NUMBERS, strict=True):
            part = table[(table["numbers"] == name) & (table["path"] == path_name)]
            values = np.array([
                [
                    part[(part["kind"] == kind) & (part[along] == v) & (part[other] == fixed)][
                        "gradient"
                    ].item()
                    for along, v in places
                    for other, fixed in [("length", 1024) if along == "scale" else ("scale", 1.0)]
                ]
                for kind in kinds
            ])  # fmt: skip
            shown = np.log10(np.clip(values, 1e-8, None))
            shown[~np.isfinite(values)] = np.nan
            image = axes.imshow(shown, vmin=-7, vmax=0, cmap=colors, aspect="auto")
            axes.axvline(len(SCALES) - 0.5, color="white", linewidth=2)
            axes.set_title(f"{name}, {title}", fontsize=10)
            axes.set_yticks(range(len(kinds)), kinds)
            axes.set_xticks(range(len(places)), [f"{v:g}" for _, v in places], rotation=90)
            axes.set_xlabel("scale of q·k/√d  |  keys")
    bar = figure.colorbar(image, ax=panels, shrink=0.6, extend="both")
    bar.set_label("relative error of gradients, log10 (black: not a number)")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", help="files without their endings: OUT.csv and OUT.png")
    parser.add_argument("--kinds", nargs="+", default=[*attention_kinds(), "lssar(p=15)"])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    table = measure(options.kinds, options.seeds)
    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(f"{out}.csv", index=False, float_format="%.3g")
    draw(table, f"{out}.png")
    shown = table[table["length"] == 1024].pivot_table(
        index=["numbers", "path", "kind"], columns="scale", values="gradient", sort=False
    )
    print(shown.map("{:.1e}".format).to_string())


if __name__ == "__main__":
    main()
