"""Fetching Julia and SymbolicRegression.jl for PySR, when the user asks for it."""

import os
import subprocess
import sys
from collections.abc import Callable

INSTALLER = "import juliapkg; juliapkg.resolve(); import pysr"
NO_NETWORK = ("URLError", "Could not resolve host", "failed to clone", "Network is unreachable")
"""In the output of juliapkg and of Julia where nothing can be fetched."""


def install_julia(tell: Callable[[str], object], installer: str = INSTALLER) -> None:
    """Have juliapkg fetch Julia and its packages, in a process of its own.

    Raises:
        ValueError: if it fails; says whether for want of a network.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHON_JULIAPKG_OFFLINE"}
    process = subprocess.Popen(
        [sys.executable, "-P", "-u", "-c", installer], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
    )  # fmt: skip
    assert process.stdout is not None  # for the type checker: it is a pipe
    messages: list[str] = []
    try:
        for line in process.stdout:
            messages.append(line.strip())
            if not any(each.startswith("Traceback") for each in messages):
                tell(messages[-1])
        code = process.wait()
    finally:
        process.kill()
    if code:
        why = next((line for line in reversed(messages) if line), f"exit code {code}")
        if any(word in line for word in NO_NETWORK for line in messages):
            raise ValueError(f"there is no network: Julia could not be fetched ({why}).")
        raise ValueError(f"Julia could not be installed: {why}")
