"""Freed memory is kept for the next arrays: asking the kernel for it again costs a fault a page."""

import ctypes
import subprocess
import sys
import textwrap

import pytest

FAULTS = """
    import resource, sys
    import numpy as np
    from orbits.command.entry import keep_freed_memory

    if sys.argv[1] == "kept":
        keep_freed_memory()

    def arrays():
        return [np.ones(1 << n) for n in (16, 17, 18, 19)]

    arrays(), arrays()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how):
    code = [sys.executable, "-c", textwrap.dedent(FAULTS), how]
    return int(subprocess.run(code, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallopt"), reason="no glibc"
)
def test_arrays_take_the_memory_of_those_before():
    kept, usual = faults("kept"), faults("as it is")
    assert kept < 100
    assert usual > 1000, "else there is nothing to keep"
