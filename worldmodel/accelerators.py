"""Which devices there are to train on. Imports torch only if it must."""

import os

from orbits.options import OptionError


def require_devices(accelerator: str, devices: int) -> None:
    """Refuse to train on missing devices: an OptionError says how many there are."""
    if accelerator != "cuda" and devices == 1:
        return
    import torch

    there = torch.cuda.device_count()
    if accelerator == "cuda" and not there:
        raise OptionError(
            "accelerator", "is cuda, but there is no CUDA device here; give auto or cpu."
        )
    on_gpu = there and accelerator != "cpu"
    most = there if on_gpu else max(8, os.cpu_count() or 1)  # eight processes are never too many
    if devices > most:
        raise OptionError("devices", f"is {devices}, but there are {most}; give fewer.")
