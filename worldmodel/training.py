"""Training: one loop for CPU, GPU and several processes, able to stop and resume at any step."""

import dataclasses
import json
import math
import os
import time
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from lightning_fabric import Fabric
from torch import Tensor
from torch.multiprocessing import ProcessRaisedException
from torch.optim import Optimizer

from orbits.files import held, write_text
from orbits.memory import out_of_memory, require_memory
from orbits.options import keywords_of, options_from
from orbits.progress import Wanted, bar
from worldmodel.accelerators import require_devices
from worldmodel.checkpoint import (
    RunRecord,
    damage_named,
    load_tensors,
    require_run_folder,
    require_same_run,
    save_tensors,
    write_record,
)
from worldmodel.config import TrainConfig
from worldmodel.data import (
    Batches,
    held_out_crops,
    mapped_positions,
    measure_scales,
    training_orbits,
    training_positions,
)
from worldmodel.model import Network, Scales, fresh_network
from worldmodel.objective import loss as loss_of
from worldmodel.optimizers import (
    LARGEST_GRADIENT,
    make_optimizers,
    optimizer_tensors,
    restore_optimizers,
    set_learning_rates,
)
from worldmodel.source import Data, DatasetSource, require_long_enough, spread
from worldmodel.world_model import WorldModel, threads


@keywords_of(TrainConfig)
def train(
    data: Data,
    config: TrainConfig | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Wanted = None,
    **options: Any,
) -> WorldModel:
    """Train a model on a data set.

    With `out`, everything goes into that folder: an interrupted run resumes there from its last
    saved state, and ends as if it had never stopped. Otherwise nothing is written.

    Args:
        data: a data set, or its path.
        config: options; by default the defaults.
        out: folder of the run.
        progress: called with a line of text now and then; False for silence. A terminal and a
            notebook show a bar.
        options: further options by name, such as `attention="lssar(p=3)", context_length=2`.

    Returns:
        The model with its last weights.

    Raises:
        ValueError: if the data or the folder do not fit the options, another process trains in the
            folder, or the loss becomes NaN.
    """
    config = options_from(TrainConfig, config, options)
    run = None if out is None else require_run_folder(out)
    joined = "LOCAL_RANK" in os.environ  # started by torchrun or a scheduler
    several = config.devices > 1 or joined
    if run is None and several:
        raise ValueError(
            "training on several devices needs a folder to gather the weights in; give one, or "
            "take one device."
        )
    require_devices(config.accelerator, config.devices)
    ddp = "ddp" if joined or torch.cuda.is_available() else "ddp_spawn"
    launcher = Fabric(
        accelerator=config.accelerator,
        devices=config.devices,
        strategy=ddp if several else "auto",
        precision=config.precision,
    )
    # Processes that are started here hand nothing back but what lies in the folder.
    spawned = config.devices > 1 and not joined
    task = partial(
        _train, data=data, run=run, config=config, progress=progress, returns=not spawned
    )
    lock: AbstractContextManager[None] = nullcontext()
    if run is not None and os.environ.get("RANK", "0") == "0":  # the process that starts others
        lock = held(
            run, f"another process is training in {run}; wait for its end, or give another folder."
        )
    with lock:
        try:
            model = launcher.launch(task)
        except ProcessRaisedException as error:
            # What a process of its own raised comes as a traceback; its last line is the message.
            raised, _, message = str(error).strip().splitlines()[-1].partition(": ")
            if out_of_memory(error):
                raise MemoryError(message) from None
            if raised not in ("ValueError", "orbits.options.OptionError"):
                raise
            raise ValueError(message) from None
    return WorldModel.load(run) if model is None and run is not None else model


@dataclasses.dataclass
class State:
    """Everything that later steps depend on, apart from the configuration."""

    network: Network
    optimizers: list[Optimizer]
    batches: Batches
    noise: torch.Generator
    step: int = 0
    best: float = math.inf

    def save(self, run: Path, identity: str) -> None:
        """Write `resume.safetensors`."""
        tensors = {f"network.{k}": v for k, v in self.network.state_dict().items()}
        tensors |= {f"optimizer.{k}": v for k, v in optimizer_tensors(self.optimizers).items()}
        tensors["batches"] = self.batches.generator.get_state()
        tensors["noise"] = self.noise.get_state()
        header = {"identity": identity, **{name: getattr(self, name) for name in ("step", "best")}}
        save_tensors(run / "resume.safetensors", tensors, header)

    def restore(self, run: Path, identity: str) -> None:
        """Go on from `resume.safetensors`; ValueError if that is damaged or another run's."""
        path = run / "resume.safetensors"
        tensors, header = load_tensors(path, identity)
        with damage_named(path):
            self.batches.generator.set_state(tensors.pop("batches"))
            self.noise.set_state(tensors.pop("noise"))
            parts: dict[str, dict[str, Tensor]] = {"network": {}, "optimizer": {}}
            for name, tensor in tensors.items():
                part, _, own = name.partition(".")
                parts[part][own] = tensor
            self.network.load_state_dict(parts["network"])
            restore_optimizers(self.optimizers, parts["optimizer"])
            self.step, self.best = header["step"], float(header["best"])


def _train(
    fabric: Fabric,
    data: Data,
    run: Path | None,
    config: TrainConfig,
    progress: Wanted,
    returns: bool,
) -> WorldModel | None:
    """The work of each process; returns the model if it can."""
    source = DatasetSource(data)
    with torch.device("meta"):
        shape = Scales.of_one(config.model, source.facts.bodies, source.facts.axes)
        parameters = sum(p.numel() for p in Network(config.model, shape).parameters())
    # measured: below a million parameters a second thread gains nothing, and waits for busy cores
    fitting = 1 if parameters < 1_000_000 else torch.get_num_threads()
    config = dataclasses.replace(config, threads=config.threads or fitting)
    with threads(config.threads):
        on_gpu = fabric.device.type == "cuda"
        record, state, held_out = _prepare(source, config, parameters, on_gpu)
        if run is not None and fabric.is_global_zero:
            require_same_run(run, record)
            run.mkdir(parents=True, exist_ok=True)
            if not (run / "config.json").exists():
                write_record(run, record)
        trainer = Trainer(fabric, run, record, state, held_out, progress)
        if run is not None and (run / "resume.safetensors").exists():
            state.restore(run, record.identity)
        if state.step < config.steps:
            trainer.fit()
        elif not config.steps:
            trainer.save_weights("last")
    if fabric.world_size > 1:
        # Gloo's threads must end before the process does, or its exit aborts now and then.
        fabric.barrier()
        torch.distributed.destroy_process_group()
    if not returns:
        return None
    network = Network(config.model, record.scales)
    network.load_state_dict(state.network.state_dict())
    name = None if run is None else str(run)
    return WorldModel(network.to(fabric.device), record, state.step, name)


def _prepare(
    source: DatasetSource, config: TrainConfig, parameters: int, on_gpu: bool
) -> tuple[RunRecord, State, Tensor]:
    """Data, untrained network and optimisers, as the seed says; refused if memory is too small."""
    facts = source.facts
    require_long_enough(facts, config.context_length)
    count = training_orbits(facts, config.held_out_share)
    if not config.stream and config.steps:
        states = facts.orbits * facts.samples * facts.bodies * facts.axes
        require_memory(12.0 * states, facts.path, "give --stream")  # float32 thrice
    require_memory(
        16.0 * parameters,  # float32 weights, gradients and two moments
        f"a model of {parameters:.3g} parameters",
        "give a smaller --d-model or fewer --n-layers",
    )
    sample = source.read(spread(0, count, 4096)).position
    radius = (sample.astype(np.float64) ** 2).sum(-1) ** 0.5
    scales = measure_scales(sample, config.model)
    record = RunRecord.of(config, facts, scales, (float(radius.min()), float(radius.max())))
    network = fresh_network(config.model, scales, config.seed)
    if config.stream and config.steps:
        positions = mapped_positions(source, count, config)
    else:
        positions = training_positions(source, range(count if config.steps else 0), config)
    state = State(
        network=network,
        optimizers=make_optimizers(network, config, fused=on_gpu),
        batches=Batches(positions, config),
        noise=torch.Generator().manual_seed(config.seed + 1),
    )
    held_out = source.read(spread(count, facts.orbits, 512)).position
    return record, state, held_out_crops(held_out, config.context_length)


def pays_to_compile(network: Network, on_gpu: bool) -> bool:
    """Whether the network is compiled for training: on a GPU, from a million parameters on. A
    smaller one has trained by the time that it would be compiled."""
    return on_gpu and sum(p.numel() for p in network.parameters()) >= 1_000_000


@dataclasses.dataclass
class Trainer:
    """The loop."""

    fabric: Fabric
    run: Path | None
    record: RunRecord
    state: State
    held_out: Tensor
    progress: Wanted

    def __post_init__(self) -> None:
        self.config = self.record.train
        self.held_out = self.fabric.to_device(self.held_out)
        network = self.state.network
        on_gpu = self.fabric.device.type == "cuda"
        if on_gpu and not self.config.stream:
            self.state.batches.lie_on(self.fabric.device)
        if pays_to_compile(network, on_gpu):
            network.compile(dynamic=False)  # its shapes are those of training and of evaluation
        self.module, *self.optimizers = self.fabric.setup(network, *self.state.optimizers)
        network.to(self.fabric.device)
        if self.config.precision == "bf16-mixed":
            # positions stay whole for the first layer: Fabric would round them to bfloat16 before
            plugin: Any = self.fabric.strategy.precision
            plugin.convert_input = lambda data: data
        # A GPU works off a queue: who reads a number waits until it is empty.
        self.reads_always = not on_gpu
        self.unread: list[Tensor] = []

    def fit(self) -> None:
        """Train to the last step."""
        config, state = self.config, self.state
        log = Log(self.run, state.step, config, self.progress, self.fabric)
        each = max(1, config.evaluate_every // 10)
        began, inside, first = time.perf_counter(), 0.0, state.step
        try:
            while state.step < config.steps:
                factor = set_learning_rates(self.optimizers, config, state.step)
                crops = self._with_noise(state.batches.next())
                entered = time.perf_counter()
                self.unread.append(self._step(*crops))
                state.step += 1
                last = state.step == config.steps
                written = last or state.step % each == 0
                evaluated = last or state.step % config.evaluate_every == 0
                read = written or evaluated or self.reads_always
                loss, norm = self._read() if read else (None, None)
                now = time.perf_counter()
                inside += now - entered
                log.advance(state.step, loss)
                if written:
                    positions = config.crops_per_step * config.context_length
                    log.write(
                        state.step,
                        loss=loss,
                        gradient_norm=norm,
                        learning_rate_factor=factor,
                        tokens_per_second=(state.step - first) * positions / (now - began),
                        fraction_in_model=inside / (now - began),
                    )
                if evaluated:
                    self._evaluate(log)
                if state.step % config.evaluate_every == 0:
                    self._save()
            self._save()
        finally:
            log.close()

    def _with_noise(self, crops: Tensor) -> tuple[Tensor, Tensor]:
        """This process's share of a batch: positions as seen, and the next ones."""
        seen, following = crops[:, :-1], crops[:, 1:]
        if self.config.context_noise:
            noise = torch.randn(seen.shape, generator=self.state.noise)
            noise = noise.to(seen.device, non_blocking=True)
            seen = seen + self.config.context_noise * noise
        share = slice(self.fabric.global_rank, None, self.fabric.world_size)
        return self.fabric.to_device(seen[share]), self.fabric.to_device(following[share])

    def _step(self, seen: Tensor, following: Tensor) -> Tensor:
        """One optimiser step; its loss and the norm of its gradient, where they were computed."""
        loss = loss_of(self.config, self.record.scales, self.module(seen), seen, following)
        self.fabric.backward(loss)
        total = loss.detach()
        norm = self.fabric.clip_gradients(
            self.module, self.optimizers[0], max_norm=LARGEST_GRADIENT, error_if_nonfinite=False
        )
        if self.fabric.world_size > 1:
            total = cast(Tensor, self.fabric.all_reduce(total, reduce_op="mean"))
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return torch.stack((total.double(), cast(Tensor, norm).double()))

    def _read(self) -> tuple[float, float]:
        """Loss and norm of the last step; ValueError if those of any step since the last reading
        are not finite: nothing is saved before it is read."""
        rows = torch.stack(self.unread).tolist()
        self.unread.clear()
        for step, values in enumerate(rows, self.state.step - len(rows) + 1):
            if not all(map(math.isfinite, values)):
                kept = "" if self.run is None else f" in {self.run}"
                raise ValueError(
                    f"the loss or its gradient is not a finite number at step {step} (loss "
                    f"{values[0]:g}, gradient {values[1]:g}); the last good state{kept} is kept. "
                    "Lower --muon-lr and --adamw-lr, or look for bad values in the data."
                )
        return rows[-1][0], rows[-1][1]

    @torch.no_grad()
    def held_out_loss(self) -> float:
        """Loss on held-out contexts, the same ones every time."""
        seen, following = self.held_out[:, :-1], self.held_out[:, 1:]
        output = self.module(seen)
        return float(loss_of(self.config, self.record.scales, output, seen, following))

    def _evaluate(self, log: "Log") -> None:
        state, loss = self.state, self.held_out_loss()
        improved = loss < state.best
        state.best = min(loss, state.best)
        log.write(state.step, held_out_loss=loss)
        if improved:
            self.save_weights("best")

    def _save(self) -> None:
        """Write the present weights, and then the state to resume from: a process that is killed
        between the two leaves no state of the last step, which would never be gone on from."""
        self.save_weights("last")
        if self.run is not None and self.fabric.is_global_zero:
            self.state.save(self.run, self.record.identity)

    def save_weights(self, name: str) -> None:
        """Write the present weights."""
        if self.run is not None and self.fabric.is_global_zero:
            header = {"identity": self.record.identity, "step": self.state.step}
            path, weights = self.run / f"{name}.safetensors", self.state.network.state_dict()
            save_tensors(path, weights, header)


class Log:
    """Numbers by step in `metrics.jsonl`, a bar on a terminal, and lines for a listener.

    Resuming from a step drops the lines after it, so the file reads as one run.
    """

    def __init__(
        self,
        run: Path | None,
        first: int,
        config: TrainConfig,
        progress: Wanted,
        fabric: Fabric,
    ) -> None:
        steps = config.steps
        self.steps, self.progress, self.speaks = steps, progress, fabric.is_global_zero
        with ExitStack() as stack:
            wanted, what = progress if self.speaks else False, {"unit": "step", "desc": "train"}
            self.bar = stack.enter_context(bar(wanted, total=steps, initial=first, **what))
            self.close = stack.pop_all().close
        self.told = time.monotonic()
        self.path = None if run is None or not self.speaks else run / "metrics.jsonl"
        if self.path is not None:
            there = first and self.path.is_file()
            lines = self.path.read_text(errors="replace").splitlines() if there else []
            kept = [line for line in lines if _step_of(line) <= first]
            write_text(self.path, "".join(f"{line}\n" for line in kept))

    def write(self, step: int, **values: float | None) -> None:
        """Record a step's numbers."""
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"step": step, **values}) + "\n")

    def advance(self, step: int, loss: float | None) -> None:
        """Show that a step is finished; its loss, if that was read."""
        self.bar.update()
        if loss is None:
            return
        if step % 10 == 0:
            self.bar.set_postfix(loss=f"{loss:.2e}")
        due = step % max(1, self.steps // 10) == 0 or step == self.steps
        due = due or time.monotonic() > self.told + 60
        if callable(self.progress) and self.speaks and due:
            self.told = time.monotonic()
            self.progress(f"step {step} of {self.steps}: loss {loss:.3e}")


def _step_of(line: str) -> float:
    """The step of a line of `metrics.jsonl`; infinity for one cut short by a kill, or damaged."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return math.inf
