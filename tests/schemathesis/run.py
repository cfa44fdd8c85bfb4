#!/usr/bin/env python3
"""Sends what schemathesis makes of our OpenAPI document to a Guillemot of its own.

    make schemathesis
    python3 tests/env/run.py -- python tests/schemathesis/run.py [--seconds N] [--seed N] [--postgres]

Every reply must be no 5xx, and have a status, a content type and a body that the document gives for its operation. The
seed is printed; the same seed sends the same requests as long as document and server are the same and time lasts.
Arguments that are not known are passed on to `schemathesis run`.
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from env import cache, fixtures, guillemot, process
from env.gcs import Gcs
from env.rest import Rest

HERE = Path(__file__).resolve().parent
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
PANIC = b"a handler panicked"
SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]}
VERSION = {
    "version-id": 1,
    "timestamp-ms": 1,
    "schema-id": 0,
    "summary": {},
    "default-namespace": ["known"],
    "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
}


def main():
    options, more = _options()
    seed = random.randrange(2**32) if options.seed is None else options.seed
    print(f"schemathesis: seed {seed}, {options.seconds} s, {'Postgres' if options.postgres else 'SQLite'}", flush=True)
    environment = cache.schemathesis()
    with contextlib.ExitStack() as running:
        scratch = Path(running.enter_context(tempfile.TemporaryDirectory(prefix=process.SCRATCH_PREFIX)))
        database = guillemot.postgres_database("schemathesis") if options.postgres else None
        warehouses = {name: f"file://{scratch}/{name}" for name in ("known", "spare")} | {"lake": "gs://warehouse"}
        gcs = os.environ["TEST_GCS_URL"]
        server = running.enter_context(guillemot.Guillemot(scratch, database, warehouses, gcs))
        _seed(server.uri, gcs)
        root = server.uri.removesuffix("/iceberg")
        document = scratch / "openapi.json"
        document.write_bytes(_document(root))
        argv = [environment / "bin" / "schemathesis", "run", document, "--url", root, "--no-color"]
        argv += ["--checks", CHECKS, "--seed", str(seed), "--max-time", str(options.seconds), "--warnings", "off"]
        argv += ["--generation-database", "none", "--suppress-health-check", "all", "--continue-on-failure", *more]
        variables = os.environ | {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)}
        code = subprocess.run([str(a) for a in argv], cwd=scratch, env=variables, stdin=subprocess.DEVNULL).returncode
        code = code or _judge(server)
    print(f"schemathesis: {'passed' if code == 0 else 'FAILED'}, seed {seed}")
    return code


def _options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=120, help="how long to go on")
    parser.add_argument("--seed", type=int, help="what the requests are made from; by default a new one")
    parser.add_argument("--postgres", action="store_true", help="on the run's Postgres instead of SQLite")
    return parser.parse_known_args()


def _seed(uri, gcs):
    """Makes what hooks.py names, so that requests reach more than their 404."""
    lake = Rest(uri, "lake")
    lake.ensure_namespace(["known"])
    for name in ("t02_partitioned", "t13_eqdelete"):
        table = fixtures.table(name)
        table.upload(Gcs(gcs))
        lake.register(["known"], name, table.current)
    rest = Rest(uri, "known")
    rest.ensure_namespace(["known"])
    at = f"{rest.base}/namespaces/known"
    for version in (1, 2, 3):
        body = {"name": f"v{version}", "schema": SCHEMA, "properties": {"format-version": str(version)}}
        rest.call("POST", f"{at}/tables", body)
    rest.call("POST", f"{at}/views", {"name": "view", "schema": SCHEMA, "view-version": VERSION, "properties": {}})


def _document(root):
    """The server's document, without operations that are declared not to be there."""
    with urllib.request.urlopen(f"{root}/openapi.json") as answer:
        document = json.load(answer)
    for methods in document["paths"].values():
        for method in [name for name, operation in methods.items() if "501" in operation["responses"]]:
            print(f"schemathesis: left out, since it answers 501: {methods.pop(method)['operationId']}", flush=True)
    return json.dumps(document).encode()


def _judge(server):
    """1 if the server died, or a handler panicked and the reply hid it."""
    if server.process.poll() is not None:
        print(f"schemathesis: the server ended with code {server.process.returncode}")
        return 1
    if PANIC in server.log.read_bytes():
        print("schemathesis: a handler panicked")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
