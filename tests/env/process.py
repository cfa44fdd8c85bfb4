"""Child processes that never outlive the program that started them."""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
SCRATCH_PREFIX = "guillemot-test-"


def die_with_parent(sig=signal.SIGTERM):
    """A `preexec_fn` after which the kernel sends `sig` when the parent dies, even by SIGKILL (Linux only)."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    libc = ctypes.CDLL(None, use_errno=True)  # loaded before the fork: nothing is allocated after it
    return lambda: libc.prctl(PR_SET_PDEATHSIG, int(sig))


def start(argv, log, *, stop_signal=signal.SIGTERM, **popen):
    """Starts a service in a process group of its own; output goes to the file `log`."""
    with open(log, "ab") as out:
        return subprocess.Popen(
            [str(a) for a in argv],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent(stop_signal),
            **popen,
        )


def stop(process, sig=signal.SIGTERM, seconds=10):
    """Ends `process` and its group: `sig`, then SIGKILL after `seconds`. Returns the exit code."""
    for step in (sig, signal.SIGKILL):
        if process.poll() is not None:
            break
        _signal_group(process.pid, step)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
    _signal_group(process.pid, signal.SIGKILL)  # children that the first process left behind
    return process.wait()


def _signal_group(pid, sig):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, sig)


def wait_until(ready, process, log, what, seconds=30):
    """Polls `ready()` until it is true; fails with the log when the process ends or time runs out."""
    deadline = time.monotonic() + seconds
    while True:
        answer = ready()
        if answer:
            return answer
        if process.poll() is not None:
            raise RuntimeError(f"{what} ended with code {process.returncode}\n{tail(log)}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what} did not answer within {seconds} s\n{tail(log)}")
        time.sleep(0.02)


def tail(log, lines=40):
    """The last lines of a log file."""
    return "\n".join(Path(log).read_text(errors="replace").splitlines()[-lines:])


def free_port():
    """A TCP port of 127.0.0.1 that nothing listens on now."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def scratch():
    """A new folder for this process, outside the project so that any user can be let in; the caller removes it."""
    sweep()
    return Path(tempfile.mkdtemp(prefix=f"{SCRATCH_PREFIX}{os.getpid()}-"))


def sweep():
    """Removes the scratch folders of processes that were killed before they could."""
    for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH_PREFIX}*"):
        pid = folder.name.removeprefix(SCRATCH_PREFIX).split("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(folder, ignore_errors=True)
