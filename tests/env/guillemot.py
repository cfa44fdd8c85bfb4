"""A Guillemot of the test's own: a process on a free port with its own database."""

import os
import re
import signal
import subprocess
import tempfile
import urllib.parse
from pathlib import Path

import psycopg

from . import process
from .cache import PROJECT

# Client secrets, tokens and private keys, by their shapes.
SECRET = re.compile(r"gms_[\w-]{20}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20}|PRIVATE KEY-----|[Bb]earer +[\w-]{20}")


def binary():
    """The program under test: GUILLEMOT_BIN, or the debug build."""
    return Path(os.environ.get("GUILLEMOT_BIN") or PROJECT / "target" / "debug" / "guillemot").resolve()


def postgres_database(name):
    """A new, empty database on the run's Postgres; its URL."""
    server = os.environ["TEST_POSTGRES_URL"]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{name}"')
    return urllib.parse.urlsplit(server)._replace(path=f"/{name}").geturl()


class Guillemot:
    """Runs `guillemot serve` on port 0; `uri` is what clients are given. A context manager."""

    def __init__(
        self,
        folder=None,
        database_url=None,
        warehouses=None,
        gcs=None,
        rules=(),
        arguments=(),
        variables=None,
        secrets=None,
    ):
        """Defaults: a scratch folder with an SQLite file and one local-folder warehouse called `default`.

        With `secrets`, an iterable that may be empty, the server logs everything, and at its end none of them may be in
        its log or its database, nor what `identity` made, nor anything in the shape of a secret of its own.
        """
        self._scratch = (
            None if folder else tempfile.TemporaryDirectory(prefix=f"{process.SCRATCH_PREFIX}{os.getpid()}-")
        )
        self.folder = Path(folder or self._scratch.name)
        self.database_url = database_url or f"sqlite://{self.folder}/guillemot.db"
        self.warehouses = warehouses or {"default": f"file://{self.folder}/warehouse"}
        self.gcs = gcs
        self.rules = rules
        self.arguments = arguments
        self.variables = variables or {}
        self.secrets = None if secrets is None else set(secrets)
        self.log = self.folder / "guillemot.log"
        self.process = None
        self.uri = None

    def __enter__(self):
        argv = [binary(), "serve", "--listen", "127.0.0.1:0", "--database-url", self.database_url]
        for name, location in self.warehouses.items():
            argv += ["--warehouse", f"{name}={location}"]
        for rule in self.rules:
            argv += ["--rule", rule]
        # Only what is said here: settings of the shell that runs the tests must not leak in.
        variables = {k: v for k, v in os.environ.items() if not k.startswith(("GUILLEMOT_", "STORAGE_EMULATOR"))}
        if self.gcs:
            variables["GUILLEMOT_GCS_ENDPOINT"] = self.gcs
        if self.secrets is not None:
            variables["GUILLEMOT_LOG"] = "trace"
        seen = self.log.stat().st_size if self.log.exists() else 0
        argv += self.arguments
        self.process = process.start(argv, self.log, env=variables | self.variables, cwd=self.folder)
        self.uri = process.wait_until(lambda: self._address(seen), self.process, self.log, "Guillemot")
        return self

    def _address(self, seen):
        said = re.search(rb"listening on (http://\S+)", self.log.read_bytes()[seen:])
        return said and said.group(1).decode().rstrip("/")

    def __exit__(self, *_):
        process.stop(self.process, signal.SIGTERM)
        try:
            if self.secrets is not None:
                self._check_secrets()
        finally:
            if self._scratch:
                self._scratch.cleanup()

    def _check_secrets(self):
        """What the server said until its end, and what it keeps, holds no secret."""
        log = self.log.read_text(errors="replace")
        assert "DEBUG" in log, "the check means nothing where little is logged"
        said = {"log": log}
        for file in self.folder.glob("guillemot.db*"):
            if not file.name.endswith(".key"):
                said[file.name] = file.read_bytes().decode("latin-1")
        for place, text in said.items():
            for secret in self.secrets:
                at = text.find(secret)
                assert at < 0, f"a secret is in the {place}: {text[max(0, at - 200) : at + 100]!r}"
            found = SECRET.search(text)
            assert not found, f"a secret is in the {place}: {text[max(0, found.start() - 200) : found.end()]!r}"

    def identity(self, *arguments):
        """Runs `guillemot identity` on this server's database; what it printed."""
        printed = self.manage("identity", *arguments)
        if self.secrets is not None:
            self.secrets |= {part.split(":")[-1] for part in re.findall(r"^credential +(\S+)$", printed, re.MULTILINE)}
        return printed

    def grant(self, privilege, user):
        """Grants something on the whole server."""
        self.manage("grant", privilege, "--user", user)

    def manage(self, *arguments):
        """Runs a command of the binary on this server's database; what it printed."""
        argv = [binary(), *arguments, "--database-url", self.database_url]
        variables = {k: v for k, v in os.environ.items() if not k.startswith("GUILLEMOT_")} | self.variables
        done = subprocess.run(argv, env=variables, cwd=self.folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def warehouse(self):
        """Name of the first warehouse."""
        return next(iter(self.warehouses))
