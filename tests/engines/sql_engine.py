"""Spark and Sail in processes of their own, asked by SQL."""

import concurrent.futures
import json
import os
import subprocess
import threading
from pathlib import Path

from env import process

WORKER = Path(__file__).with_name("sql_worker.py")


class EngineError(Exception):
    """What the engine said instead of an answer."""


class Engine:
    """A running engine. A context manager."""

    def __init__(self, python, arguments, log, variables=None):
        self._log, self._pending, self._last, self._lock = log, {}, 0, threading.Lock()
        with open(log, "ab") as said:
            self._process = subprocess.Popen(
                [str(part) for part in (python, WORKER, *arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                start_new_session=True,
                preexec_fn=process.die_with_parent(),
                env=os.environ | (variables or {}),
            )
        started = self._pending[0] = concurrent.futures.Future()
        threading.Thread(target=self._listen, daemon=True).start()
        started.result(timeout=300)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        process.stop(self._process)

    def start(self, sql, session="main"):
        """Begins a statement; its answer is a future."""
        answer = concurrent.futures.Future()
        with self._lock:
            self._last += 1
            self._pending[self._last] = answer
            self._process.stdin.write(json.dumps({"id": self._last, "session": session, "sql": sql}) + "\n")
            self._process.stdin.flush()
        return answer

    def rows(self, sql, session="main"):
        """All rows of a statement, as tuples. Raises EngineError."""
        return self.start(sql, session).result(timeout=300)

    def value(self, sql, session="main"):
        """The first column of the first row."""
        return self.rows(sql, session)[0][0]

    def _listen(self):
        for line in self._process.stdout:
            said = json.loads(line)
            answer = self._pending.pop(said["id"])
            if "error" in said:
                answer.set_exception(EngineError(said["error"]))
            else:
                answer.set_result([tuple(row) for row in said["rows"]])
        for answer in list(self._pending.values()):
            answer.set_exception(EngineError(f"the engine ended\n{process.tail(self._log)}"))


def spark(lake, folder):
    """Spark 3.5 with Iceberg's Java library and Google's storage client."""
    arguments = ["spark", "--uri", lake.uri, "--warehouse", lake.location, "--jars", os.environ["TEST_SPARK_JARS"]]
    if lake.gcs:
        arguments += ["--io-impl", "org.apache.iceberg.gcp.gcs.GCSFileIO"]
    return Engine(os.environ["TEST_SPARK_PYTHON"], arguments, folder / "spark.log")


def sail(lake, folder):
    """Sail, which writes by GCS's XML API only."""
    key = {"gcs_base_url": f"http://{lake.xml}", "disable_oauth": True}
    key |= dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
    arguments = ["sail", "--uri", lake.uri, "--warehouse", lake.warehouse]
    return Engine(
        os.environ["TEST_SAIL_PYTHON"], arguments, folder / "sail.log", {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(key)}
    )
