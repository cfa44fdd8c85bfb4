"""Replays what real clients sent to Iceberg's reference server, and compares status, error type and keys of each reply.

A file of tests/data/traces is one flow of one client: what was there before, then its requests in order, each with the
status and the error type of the reply and its keys. Uuids and locations are given anew by every server: those of the
recording are rewritten to ours. Each flow runs against a server of its own over the files of the fixtures; manifest
lists that were not kept are missing, so the rule that wants them is off.
"""

import json
import os
import urllib.error
import urllib.request

import pytest
from differences import DIFFERENCES, FITTED, explained

from env import fixtures, guillemot
from env.cache import PROJECT
from env.gcs import Gcs
from env.rest import Rest

FLOWS = sorted((PROJECT / "tests" / "data" / "traces").glob("*.jsonl"))
# Below these keys names are the user's.
OPAQUE = {"properties", "summary", "config", "defaults", "overrides"}
ANY = {"type": "struct", "fields": []}
COMPARED, EXPLAINED = [], []


@pytest.fixture(scope="module")
def gcs():
    """The emulator with the files of every fixture."""
    gcs = Gcs(os.environ["TEST_GCS_URL"])
    for table in fixtures.tables():
        table.upload(gcs)
    return gcs


@pytest.mark.parametrize("file", FLOWS, ids=lambda file: file.stem)
def test_replies_are_those_of_the_reference(file, gcs, tmp_path):
    before, *exchanges = [json.loads(line) for line in file.read_text().splitlines()]
    places = {"warehouse": "gs://warehouse"}
    with guillemot.Guillemot(tmp_path, None, places, gcs.url, ["manifest-list-missing=off"]) as server:
        ids = {}
        prepare(Rest(server.uri, "warehouse"), gcs, before)
        unexplained = []
        for recorded in exchanges:
            ours = send(server.uri, recorded, ids)
            for difference in differences(recorded, before["shapes"], ours):
                reason = explained(file.stem, recorded, difference)
                where = f"{recorded['seq']} {recorded['method']} {recorded['path']}"
                (EXPLAINED if reason else unexplained).append(f"{file.stem} {where}: {difference} {reason or ''}")
            learn(ids, recorded, ours)
            COMPARED.append(file.stem)
    assert not unexplained, "\n" + "\n".join(unexplained)


def test_every_flow_was_compared():
    assert {file.stem for file in FLOWS} == set(COMPARED)
    assert [row for row in DIFFERENCES if row not in FITTED] == [], "explains nothing"
    print(f"\n{len(COMPARED)} replies compared, {len(EXPLAINED)} explained differences")


def prepare(rest, gcs, before):
    """Makes the namespaces and the tables that the recording found."""
    for namespace in before["namespaces"]:
        rest.ensure_namespace(namespace)
    for table in before["tables"]:
        if "metadata" in table:
            gcs.put(table["metadata-location"], json.dumps(table["metadata"]).encode())
        location = table.get("metadata-location") or fixtures.table("seed_v3").current
        rest.register(table["namespace"], table["name"], location)
    for table in before["listed"]:
        rest.call(
            "POST", f"{rest.base}/namespaces/{table['namespace'][0]}/tables", {"name": table["name"], "schema": ANY}
        )


def send(uri, recorded, ids):
    """Sends a recorded request with our ids in it: status and body of the reply."""
    body = recorded.get("body")
    text = body["_raw"] if body and "_raw" in body else body and json.dumps(body)
    for theirs, ours in ids.items():
        text = text and text.replace(json.dumps(theirs)[1:-1], json.dumps(ours)[1:-1])
    request = urllib.request.Request(uri + recorded["path"], text and text.encode(), method=recorded["method"])
    for name, value in {"Content-Type": "application/json", **recorded.get("headers", {})}.items():
        request.add_header(name, value)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            status, body = answer.status, answer.read()
    except urllib.error.HTTPError as e:
        status, body = e.code, e.read()
    return status, json.loads(body) if body else None


def learn(ids, recorded, ours):
    """Notes which of our ids stand for which of theirs."""
    metadata = (ours[1] or {}).get("metadata")
    if "ids" not in recorded or not metadata:
        return
    uuid = metadata.get("table-uuid") or metadata.get("view-uuid")
    for theirs, mine in [
        (recorded["ids"]["uuid"], uuid),
        (recorded["ids"]["metadata"], ours[1].get("metadata-location")),
    ]:
        if theirs and mine and theirs != mine:
            ids[theirs] = mine


def differences(recorded, shapes, ours):
    """What the reply has different, one text each."""
    status, body = ours
    if status != recorded["status"]:
        said = (body or {}).get("error", {})
        yield f"status {recorded['status']} -> {status} {said.get('type', '')} {said.get('message', '')}".strip()
        return
    kind = (body or {}).get("error", {}).get("type")
    if kind != recorded.get("type"):
        yield f"type {recorded.get('type')} -> {kind}"
    theirs = set(shapes[recorded["shape"]]) if "shape" in recorded else set()
    mine = keys(body)
    yield from (f"without {key}" for key in sorted(theirs - mine))
    yield from (f"with {key}" for key in sorted(mine - theirs))


def keys(value, at=""):
    """The keys of a reply with their places; elements of a list are taken together."""
    found = set()
    if isinstance(value, dict):
        for key, part in value.items():
            name = "*" if at.endswith("refs") else key
            place = f"{at}.{name}" if at else name
            found |= {place} | (set() if key in OPAQUE else keys(part, place))
    elif isinstance(value, list):
        for part in value:
            found |= keys(part, f"{at}[]")
    return found
