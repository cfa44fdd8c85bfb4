"""Runs engines, each against a Guillemot of its own, and keeps what they say."""

import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from env import fixtures, gcs, guillemot, process, xml_proxy
from env.cache import PROJECT
from env.rest import Rest, oauth_token

from . import steps
from .proof import Reader

# An engine that hangs is a failure of its own.
SECONDS = 1800
# Under which the servers seal their signing keys.
KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


@dataclass(frozen=True)
class Lake:
    """A running Guillemot, how to reach its storage, and how to log in where it is closed."""

    uri: str
    warehouse: str
    location: str
    gcs: str | None = None
    xml: str | None = None
    # ID:SECRET, and a key file in the shape of Google's.
    credential: str | None = None
    key_file: Path | None = None

    def token(self):
        """A token of the server's own, good for an hour; None where it asks for none."""
        return self.credential and oauth_token(self.uri, *self.credential.split(":"))

    def rest(self):
        """A bare client of its warehouse."""
        return Rest(self.uri, self.warehouse, self.token())


def run(engine):
    """The lines of one engine."""
    try:
        engine.fetch()
    except SystemExit as refused:
        return finished(engine, [{"step": "config", "result": "unserved", "message": first_error(str(refused))}])
    with contextlib.ExitStack() as running:
        folder = Path(
            running.enter_context(tempfile.TemporaryDirectory(prefix=f"{process.SCRATCH_PREFIX}{os.getpid()}-"))
        )
        lake = running.enter_context(started(engine, folder))
        if lake.gcs:
            put_histories(lake)
        lines, tables = claimed(engine, lake, folder)
        return finished(engine, lines + proved(Reader(lake), lines, tables))


@contextlib.contextmanager
def started(engine, folder):
    """A fresh server: Postgres and gs:// on the emulator, or a local folder for an engine that cannot reach it."""
    database = guillemot.postgres_database(f"matrix_{re.sub(r'[-.]', '_', engine.name)}")
    closed = {"arguments": ["--auth", "identities"], "variables": {"GUILLEMOT_SECRET_KEY": KEY}} if engine.login else {}
    if engine.storage == "folder":
        with guillemot.Guillemot(folder, database, {"lake": f"file://{folder}/lake"}, **closed) as server:
            yield Lake(server.uri, "lake", server.warehouses["lake"], **(logins(server) if engine.login else {}))
        return
    url = os.environ["TEST_GCS_URL"]
    store = gcs.Gcs(url)
    for address in store.list(f"gs://{gcs.BUCKET}/"):
        store.delete(address)
    with (
        guillemot.Guillemot(folder, database, {"lake": f"gs://{gcs.BUCKET}"}, url, **closed) as server,
        xml_proxy.running(url) as xml,
    ):
        yield Lake(server.uri, "lake", f"gs://{gcs.BUCKET}", url, xml, **(logins(server) if engine.login else {}))


def logins(server):
    """Makes the identity that an engine may log in as, by a secret or by a key file."""
    printed, key = server.identity("create", "engine"), server.folder / "key.json"
    server.identity("create", "google", "--google-key", key, "--token-uri", f"{server.uri}/v1/oauth/tokens")
    for name in ("engine", "google"):
        server.grant("admin", f"identity:{name}")
    return {"credential": re.search(r"^credential +(\S+)$", printed, re.MULTILINE).group(1), "key_file": key}


def put_histories(lake):
    """Registers the tables that every reader counts, in the namespace `history`."""
    catalog = lake.rest()
    catalog.ensure_namespace(["history"])
    store = gcs.Gcs(lake.gcs)
    for name in steps.HISTORIES:
        table = fixtures.table(name)
        table.upload(store)
        fixtures.upload(store, PROJECT / "tests" / "data" / "histories" / name, table.location)
        catalog.register(["history"], name, table.current)


def claimed(engine, lake, folder):
    """Runs the engine's program; its lines, and the names of the tables that it left."""
    claims, log = folder / "claims.jsonl", folder / "engine.log"
    variables = os.environ | {
        "CATALOG_URI": lake.uri,
        "CATALOG_WAREHOUSE": lake.warehouse,
        "WAREHOUSE_LOCATION": lake.location,
        "GCS_URL": lake.gcs or "",
        "XML_ENDPOINT": lake.xml or "",
        "CATALOG_CREDENTIAL": lake.credential or "",
        "CATALOG_TOKEN": lake.token() or "",
        "CLAIMS": str(claims),
        "HISTORIES": " ".join(steps.HISTORIES) if lake.gcs else "",
    }
    if lake.key_file:
        # Where Google's libraries look for a login when they are told of none.
        variables["GOOGLE_APPLICATION_CREDENTIALS"] = str(lake.key_file)
    began = time.monotonic()
    child = process.start(engine.run(), log, env=variables, cwd=folder)
    try:
        code = child.wait(SECONDS)
    except subprocess.TimeoutExpired:
        code = f"none after {SECONDS} s"
    finally:
        process.stop(child)
    lines = [json.loads(line) for line in claims.read_text().splitlines()] if claims.exists() else []
    print(f"{engine.name}: {len(lines)} lines in {time.monotonic() - began:.0f} s, code {code}", flush=True)
    keep = os.environ.get("MATRIX_LOGS")
    if keep:
        (Path(keep) / f"{engine.name}.log").write_bytes(log.read_bytes())
        (Path(keep) / f"{engine.name}.server.log").write_bytes((folder / "guillemot.log").read_bytes())
    if code != 0:
        lines.append({"step": "config", "result": "fail", "message": f"code {code}: {process.tail(log, 5)}"})
        print(process.tail(log), file=sys.stderr)
    return lines, left(lake)


def left(lake):
    """The tables of the engine's namespaces."""
    catalog = lake.rest()
    names = []
    for namespace in catalog.call("GET", f"{catalog.base}/namespaces")["namespaces"]:
        if namespace != ["history"]:
            answer = catalog.call("GET", f"{catalog.base}/namespaces/{'%1F'.join(namespace)}/tables")
            names += [".".join([*i["namespace"], i["name"]]) for i in answer["identifiers"]]
    return names


def proved(reader, lines, tables):
    """What the independent reader and `guillemot verify` object to."""
    found = []
    for line in lines:
        for proof in line.pop("proofs", []):
            try:
                objections = reader.objections(proof)
            except Exception as e:
                objections = [f"{proof}: the independent reader failed: {type(e).__name__}: {e}"]
            found += [{"step": line["step"], "result": "fail", "message": o} for o in objections]
    for name in tables:
        objection = reader.verify(name)
        if objection:
            found.append({"step": "read", "result": "fail", "message": objection})
    return found


def finished(engine, lines):
    """The lines as they are kept: counts become steps, and every line says whose it is."""
    for line in lines:
        if "count" in line:
            live = steps.HISTORIES[line["count"]]
            line["step"] = steps.COUNT + line["count"]
            if "rows" in line:
                line["result"] = "pass" if line["rows"] == live else "fail"
                line["message"] = str(line["rows"])
            else:
                line["result"] = "absent"
        line["message"] = first_error(line.get("message") or "")
    return [
        {"engine": engine.name, "version": engine.version} | {m: line[m] for m in ("step", "result", "message")}
        for line in steps.merged(lines)
    ]


def first_error(text, most=420):
    """The telling part of a long message, without the frames of Java's stack and the ports of this run."""
    text = re.sub(r"127\.0\.0\.1:\d+", "HOST", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("at ")]
    telling = next((line for line in lines if "ERROR" in line), " ".join(lines))
    return telling[:most]
