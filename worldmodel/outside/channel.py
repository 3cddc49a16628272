"""A predictor that lives in another process of the same user: asked through a socket.

`symreg run` makes every stage a process of its own; a predictor that is an object in the caller's
memory (in a notebook, say) stays there and answers. Arrays travel as `.npy` without pickles.
"""

import io
import json
import os
import socket
import struct
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from worldmodel.outside.config import CALLER, OutsideConfig
from worldmodel.outside.model import OutsideModel

ADDRESS = "PRINCIPIA_PREDICTOR"
"""Variable of the environment that says where the predictor answers."""


def spec_of(model: OutsideModel) -> str:
    """The spec of a predictor in this process: it holds its fingerprint."""
    return f"{CALLER}p{model.fingerprint}"


@contextmanager
def serving(model: OutsideModel) -> Iterator[None]:
    """Answer for a predictor while the block lasts; child processes find it by `ADDRESS`."""
    folder = tempfile.mkdtemp(prefix="principia-")
    address = str(Path(folder) / "predictor")
    before = os.environ.get(ADDRESS)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen()
        lock = threading.Lock()
        thread = threading.Thread(target=_accept, args=(listener, model, lock), daemon=True)
        thread.start()
        os.environ[ADDRESS] = address
        try:
            yield
        finally:
            if before is None:
                os.environ.pop(ADDRESS, None)
            else:
                os.environ[ADDRESS] = before
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            Path(address).unlink(missing_ok=True)
            Path(folder).rmdir()


def served(spec: str, config: OutsideConfig) -> OutsideModel:
    """The predictor that answers in the process that began the run.

    Raises:
        ValueError: if there is none.
    """
    address = os.environ.get(ADDRESS)
    if not address:
        raise ValueError(
            "the model of this run was an object in the Python process that began it; call "
            "symreg.run(predictor=...) there again, or give --model."
        )
    about = _asked(address, {"ask": "about"})[0]
    plain = Served(address, about["context_length"], None)
    trained: Any = ServedWithJacobians(plain) if about["jacobians"] else plain

    def untrained(seed: int) -> Served:
        return Served(address, about["context_length"], seed)

    # the caller's side speaks au already
    return OutsideModel(
        trained,
        None,
        untrained if about["untrained"] else None,
        about["name"],
        spec.removeprefix(CALLER),
    )


class Served:
    """A predictor at the other end of the socket."""

    def __init__(self, address: str, context_length: int, seed: int | None) -> None:
        self.address = address
        self.context_length = context_length
        self.seed = seed

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """What it says."""
        return _array(_asked(self.address, {"ask": "predict", "seed": self.seed}, positions)[1])


class ServedWithJacobians:
    """The same, of a predictor that knows its derivatives."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.context_length = served.context_length

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """What it says."""
        return self.served.predict(positions)

    def jacobians(self, contexts: np.ndarray) -> np.ndarray:
        """Derivatives by every position of the contexts."""
        return _array(_asked(self.served.address, {"ask": "jacobians"}, contexts)[1])


def _accept(listener: socket.socket, model: OutsideModel, lock: threading.Lock) -> None:
    fresh: dict[int, OutsideModel] = {}
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        arguments = (connection, model, fresh, lock)
        threading.Thread(target=_answer, args=arguments, daemon=True).start()


def _answer(
    connection: socket.socket,
    model: OutsideModel,
    fresh: dict[int, OutsideModel],
    lock: threading.Lock,
) -> None:
    """One question, one answer; a failure travels as its one line."""
    with connection, suppress(OSError):
        question, values = _received(connection)
        try:
            with lock:
                answer = _said(question, values, model, fresh)
        except Exception as error:  # somebody else's code: whatever it is, it is told there
            _send(connection, {"error": " ".join(str(error).split())}, None)
            return
        _send(connection, answer[0], answer[1])


def _said(
    question: dict[str, Any],
    values: np.ndarray | None,
    model: OutsideModel,
    fresh: dict[int, OutsideModel],
) -> tuple[dict[str, Any], np.ndarray | None]:
    own = getattr(model.predictor, "jacobians", None)
    if question["ask"] == "about":
        about = {"context_length": model.context_length, "name": model.name}
        return about | {
            "jacobians": own is not None,
            "untrained": model.make_untrained is not None,
        }, None
    positions = _array(values)
    if question["ask"] == "jacobians" and own is not None:
        return {}, np.asarray(own(positions / model.config.length), dtype=np.float64)
    seed = question.get("seed")
    if seed is None:
        return {}, model.predict(positions)
    if seed not in fresh:
        fresh[seed] = model.untrained(seed)
    return {}, fresh[seed].predict(positions)


def _asked(
    address: str, question: dict[str, Any], values: np.ndarray | None = None
) -> tuple[dict[str, Any], np.ndarray | None]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect(address)
        except OSError:
            raise ValueError(
                "the Python process that holds the model does not answer any more; call "
                "symreg.run(predictor=...) again."
            ) from None
        _send(connection, question, values)
        answer, found = _received(connection)
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer, found


def _send(connection: socket.socket, head: dict[str, Any], values: np.ndarray | None) -> None:
    body = b""
    if values is not None:
        stream = io.BytesIO()
        np.save(stream, np.ascontiguousarray(values), allow_pickle=False)
        body = stream.getvalue()
    text = json.dumps(head).encode()
    connection.sendall(struct.pack("<QQ", len(text), len(body)) + text + body)


def _received(connection: socket.socket) -> tuple[dict[str, Any], np.ndarray | None]:
    text_length, body_length = struct.unpack("<QQ", _exactly(connection, 16))
    head = json.loads(_exactly(connection, text_length))
    body = _exactly(connection, body_length)
    return head, np.load(io.BytesIO(body), allow_pickle=False) if body else None


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts, left = [], count
    while left:
        part = connection.recv(min(left, 1 << 20))
        if not part:
            raise ValueError("the Python process that holds the model has ended.")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _array(values: np.ndarray | None) -> np.ndarray:
    if values is None:
        raise ValueError("no numbers came from the model's process.")
    return values
