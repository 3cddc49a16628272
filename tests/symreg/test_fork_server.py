"""Stages are forked from a process that has loaded their libraries; each is a process as any."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from symreg.experiments.fork_server import LOADED, ForkServer

PROGRAM = """
    import os, signal, sys, time
    from pathlib import Path
    task, *rest = sys.argv[1:]
    if task == "say":
        threads = "none" if "torch" not in sys.modules else sys.modules["torch"].get_num_threads()
        print(os.getcwd(), *rest, os.environ["OMP_NUM_THREADS"], threads, sys.stdin.read())
        print(LAST in sys.modules)
    elif task == "work":
        end = time.process_time() + 0.5
        while time.process_time() < end:
            pass
    elif task == "exit":
        sys.exit(int(rest[0]))
    elif task == "fail":
        raise RuntimeError("no luck")
    elif task == "stay":
        def told(number, frame):
            Path(rest[0]).write_text(str(number))
            sys.exit(7)
        signal.signal(signal.SIGTERM, told)
        Path(rest[0]).write_text(str(os.getpid()))
        time.sleep(60)
    elif task == "leave":
        import atexit, threading
        atexit.register(lambda: print("last words"))
        threading.Thread(target=lambda: (time.sleep(0.3), print("a thread's words"))).start()
"""


@pytest.fixture
def server(tmp_path, monkeypatch):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "toy_program.py").write_text(
        textwrap.dedent(PROGRAM).replace("LAST", repr(LOADED[-1]))
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"), prepend=os.pathsep)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    made = ForkServer()
    yield made
    made.close()


def begun(server, folder, *arguments, threads=1):
    log = folder / "log"
    log.touch()
    return server.begin(("toy_program", *arguments), folder, log, threads)


def test_a_process_has_its_folder_its_log_its_threads_and_no_stdin(server, tmp_path):
    assert begun(server, tmp_path, "say", "a b", threads=3).wait(30) == 0
    said = (tmp_path / "log").read_text().split()
    assert said[:4] == [str(tmp_path), "a", "b", "3"]
    assert len(said) == 6  # nothing came from stdin


def test_torch_takes_the_threads_of_each_process(server, tmp_path, monkeypatch):
    """It is loaded once, with one thread."""
    wait_until_loaded(server, tmp_path)
    for threads in (2, 1):
        (tmp_path / "log").unlink(missing_ok=True)
        begun(server, tmp_path, "say", threads=threads).wait(30)
        assert (tmp_path / "log").read_text().split()[1:3] == [str(threads), str(threads)]
    monkeypatch.setenv("OMP_NUM_THREADS", "4")  # what the user has set stays
    (tmp_path / "log").unlink()
    begun(server, tmp_path, "say").wait(30)
    assert (tmp_path / "log").read_text().split()[1:3] == ["4", "4"]


def wait_until_loaded(server, folder):
    """Begin processes until one finds everything there."""
    for _ in range(200):
        (folder / "log").unlink(missing_ok=True)
        begun(server, folder, "say").wait(30)
        if (folder / "log").read_text().split()[-1] == "True":
            return
        time.sleep(0.1)
    pytest.fail("the libraries were not loaded in 20 s")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_server_has_one_thread_when_all_is_loaded(server, tmp_path):
    """A fork copies one thread alone: a lock that another holds would never be released."""
    wait_until_loaded(server, tmp_path)
    assert len(list(Path(f"/proc/{server._server.pid}/task").iterdir())) == 1


def test_how_a_process_ended_and_what_it_took_are_told(server, tmp_path, capfd):
    worked, ended = begun(server, tmp_path, "work"), begun(server, tmp_path, "exit", "3")
    failed = begun(server, tmp_path, "fail")
    assert (worked.wait(30), ended.wait(30), failed.wait(30)) == (0, 3, 1)
    assert 0.5 <= worked.processor_seconds < 3
    assert ended.processor_seconds < worked.processor_seconds
    assert "RuntimeError: no luck" in capfd.readouterr().err


def test_a_process_ends_as_any_other_threads_and_last_words_included(server, tmp_path):
    assert begun(server, tmp_path, "leave").wait(30) == 0
    assert (tmp_path / "log").read_text() == "a thread's words\nlast words\n"


def staying(server, folder, name="here"):
    """A process that waits for a signal, once it does."""
    process = begun(server, folder, "stay", str(folder / name))
    while not (folder / name).exists() or not (folder / name).read_text():
        assert process.poll() is None
        time.sleep(0.05)
    return process


def test_a_process_can_be_asked_to_end_and_be_ended(server, tmp_path):
    asked, killed = staying(server, tmp_path), staying(server, tmp_path, "there")
    with pytest.raises(subprocess.TimeoutExpired):
        asked.wait(0.1)
    asked.terminate()
    assert asked.wait(10) == 7
    assert (tmp_path / "here").read_text() == str(int(signal.SIGTERM))
    killed.kill()
    assert killed.wait(10) == -signal.SIGKILL
    asked.terminate()  # it has ended: nothing happens
    assert asked.poll() == 7


def test_ctrl_c_ends_the_processes_and_not_the_server(server, tmp_path):
    """It reaches all that share a terminal; the server is there to tell how they ended."""
    process = staying(server, tmp_path)
    for number in (server._server.pid, int((tmp_path / "here").read_text())):
        os.kill(number, signal.SIGINT)
    assert process.wait(10) == -signal.SIGINT


def test_ctrl_c_before_the_server_is_ready_is_no_traceback(server, tmp_path, capfd):
    process = begun(server, tmp_path, "exit", "0")
    os.kill(server._server.pid, signal.SIGINT)
    assert process.wait(30) == 0
    assert capfd.readouterr().err == ""
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_library_that_cannot_be_loaded_is_the_stages_own_affair(server, tmp_path, capfd):
    """It says so by itself; the others run."""
    for name in ("torch", "pyoperon"):
        (tmp_path / "lib" / f"{name}.py").write_text("raise OSError('no luck')")
    (tmp_path / "lib" / "wants_torch.py").write_text("import torch")
    wait_until_loaded(server, tmp_path)
    assert begun(server, tmp_path, "exit", "3").wait(30) == 3
    assert capfd.readouterr().err == ""
    assert server.begin(("wants_torch",), tmp_path, tmp_path / "log", 1).wait(30) == 1
    assert "OSError: no luck" in capfd.readouterr().err


def test_where_the_server_is_killed_its_processes_count_as_killed(server, tmp_path):
    process = staying(server, tmp_path)
    server._server.kill()
    assert process.wait(10) == -signal.SIGKILL
    assert begun(server, tmp_path, "exit", "0").wait(30) == 0  # another server takes over


def test_a_server_ends_with_the_process_that_started_it(tmp_path):
    """Though that is killed."""
    code = f"""
        import os, time
        from pathlib import Path
        from symreg.experiments.fork_server import ForkServer
        server = ForkServer()
        Path({str(tmp_path / "log")!r}).touch()
        process = server.begin(("timeit", "-n", "1", "-r", "1", "import time; time.sleep(60)"),
                               Path({str(tmp_path)!r}), Path({str(tmp_path / "log")!r}), 1)
        print(server._server.pid, flush=True)
        time.sleep(60)
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    server = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and alive(server):
        time.sleep(0.1)
    assert not alive(server)


def alive(process):
    """Whether a process runs, and is no zombie that nobody has waited for."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"
