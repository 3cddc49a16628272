"""Read-outs behind one contract, chosen by name.

A read-out is a file here with a function `read(subject: Subject) -> Reading`
(`worldmodel.probes.subject`); `READOUTS` names them. One that returns a table writes force samples
(Parquet), any other writes its metrics and details as JSON.
"""

from collections.abc import Callable

from worldmodel.probes.readouts import (
    implied,
    inductive_bias,
    jacobian,
    kick_response,
    linear,
    transfer,
)
from worldmodel.probes.subject import Reading, Subject

READOUTS: dict[str, Callable[[Subject], Reading]] = {
    "implied": implied.read,
    "kick_response": kick_response.read,
    "jacobian": jacobian.read,
    "linear": linear.read,
    "transfer": transfer.read,
    "inductive_bias": inductive_bias.read,
}
