#!/usr/bin/env python3
"""Runs a command with a Postgres and a GCS emulator of its own, and stops both whatever happens.

    python3 tests/env/run.py [--spark] [--no-services] COMMAND ARGUMENT...

The command finds TEST_POSTGRES_URL and TEST_GCS_URL in its environment, and the fetched Python tools
(pytest, ruff, PyIceberg, DuckDB) first on its PATH. With --spark also TEST_SPARK_PYTHON, TEST_SPARK_JARS and
TEST_SAIL_PYTHON.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from env import cache, gcs, postgres, process


def main():
    options = _options()
    for sig in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, lambda number, _: sys.exit(128 + number))  # so that the clean-up below runs
    variables = dict(os.environ)
    variables["PATH"] = f"{cache.tools() / 'bin'}{os.pathsep}{variables.get('PATH', '')}"
    if options.spark:
        spark = cache.spark()
        variables |= {"TEST_SPARK_PYTHON": str(spark.python), "TEST_SPARK_JARS": str(spark.jars)}
        variables["TEST_SAIL_PYTHON"] = str(cache.sail())
    with contextlib.ExitStack() as running:
        if not options.no_services:
            scratch = process.scratch()
            running.callback(shutil.rmtree, scratch, ignore_errors=True)
            variables["TEST_POSTGRES_URL"] = running.enter_context(postgres.running(scratch))
            variables["TEST_GCS_URL"] = running.enter_context(gcs.running(scratch))
        return _run(options.command, variables)


def _options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spark", action="store_true", help="fetch Spark, the Iceberg jars and Sail too")
    parser.add_argument("--no-services", action="store_true", help="start neither Postgres nor the GCS emulator")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.command[:1] == ["--"]:
        del options.command[0]
    if not options.command:
        parser.error("no command")
    return options


def _run(command, variables):
    child = subprocess.Popen(
        command, env=variables, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=process.die_with_parent()
    )
    try:
        return child.wait()
    finally:
        process.stop(child)


if __name__ == "__main__":
    sys.exit(main())
