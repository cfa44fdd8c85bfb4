"""Runs SQL in a process of its own: Spark and Sail need Pythons that the tests' own cannot be.

    python sql_worker.py spark|sail OPTIONS

Reads one request a line, `{"id", "session", "sql"}`, and answers one line each, `{"id", "rows"}` or `{"id", "error"}`.
Requests run side by side; each session has its own settings, and what it knows of tables.
"""

import argparse
import json
import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "spark-seed"))


def main():
    options = arguments()
    # Engines write to standard output what they like; answers go where it went.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sessions = Sessions({"spark": spark, "sail": sail}[options.engine](options))
    lock = threading.Lock()

    def answer(request):
        try:
            rows = sessions.get(request["session"]).sql(request["sql"]).collect()
            said = {"rows": [list(row) for row in rows]}
        except Exception as error:  # whatever an engine raises is its answer
            said = {"error": f"{type(error).__name__}: {error}"}
        with lock:
            print(json.dumps({"id": request["id"], **said}, default=plain), file=answers, flush=True)

    with lock:
        print(json.dumps({"id": 0, "rows": []}), file=answers, flush=True)
    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
    os._exit(0)


def plain(value):
    """What JSON has no form for: inner rows as lists, all else as text."""
    return list(value) if isinstance(value, tuple) else str(value)


class Sessions:
    """Sessions by name."""

    def __init__(self, first):
        self.first, self.named, self.lock = first, {"main": first}, threading.Lock()

    def get(self, name):
        with self.lock:
            if name not in self.named:
                self.named[name] = self.first.newSession()
            return self.named[name]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=["spark", "sail"])
    parser.add_argument("--uri", required=True)
    parser.add_argument("--warehouse", required=True)
    parser.add_argument("--io-impl")
    parser.add_argument("--jars", type=Path)
    # Tables as they are, not as they were when this process last saw them: others write to them too.
    parser.set_defaults(conf=["cache-enabled=false"])
    return parser.parse_args()


def spark(options):
    """Spark with Iceberg's Java library."""
    import seed

    return seed.session(options)


def sail(options):
    """Sail, a Spark in Rust, behind Spark Connect."""
    catalog = f'{{type="iceberg-rest", name="lk", uri="{options.uri}", warehouse="{options.warehouse}"}}'
    os.environ["SAIL_CATALOG__LIST"] = f"[{catalog}]"
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    session = SparkSession.builder.remote(f"sc://{host}:{port}").getOrCreate()
    session.server = server  # lives as long as the session
    return session


if __name__ == "__main__":
    main()
