"""Which devices there are to train on. Imports no torch."""

import ctypes
import os
import sys

from orbits.options import OptionError

FEW = 8
"""Processes of the processor that are never too many."""


def cuda_devices() -> int:
    """Number of CUDA devices, as torch counts them where it is imported, else as the driver does.

    Source: CUDA Driver API, cuInit and cuDeviceGetCount.
    """
    if "torch" in sys.modules:
        return sys.modules["torch"].cuda.device_count()
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int(0)
        found = not driver.cuInit(0) and not driver.cuDeviceGetCount(ctypes.byref(count))
    except (OSError, AttributeError):
        return 0
    return count.value if found else 0


def require_devices(accelerator: str, devices: int) -> None:
    """Refuse to train on devices that are not there.

    Args:
        accelerator: `auto`, `cpu` or `cuda`.
        devices: how many.

    Raises:
        OptionError: says how many there are.
    """
    there = cuda_devices()
    if accelerator == "cuda" and not there:
        raise OptionError(
            "accelerator", "is cuda, but there is no CUDA device here; give auto or cpu."
        )
    most = there if there and accelerator != "cpu" else max(FEW, os.cpu_count() or 1)
    if devices > most:
        raise OptionError("devices", f"is {devices}, but there are {most}; give fewer.")
