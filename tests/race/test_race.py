"""Sixteen writers, one table, two servers on one Postgres: what was acknowledged is there, once."""

import json
import os
import signal
import threading
import time
import uuid
from pathlib import Path

import pytest

from env.guillemot import Guillemot, postgres_database
from env.rest import Rest
from race import avro
from race.writers import NAMESPACE, TABLE, Outcome, Writer

WRITERS = 16
SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]}


@pytest.fixture
def lake(tmp_path):
    """Starts servers that share one database and one folder; the table is there already."""
    database = postgres_database(f"race_{uuid.uuid4().hex[:12]}")

    def server(name):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        return Guillemot(folder=folder, database_url=database, warehouses={"default": f"file://{tmp_path}/lake"})

    with server("first") as first:
        rest = Rest(first.uri, "default")
        rest.ensure_namespace([NAMESPACE])
        made = rest.call("POST", f"{rest.base}/namespaces/{NAMESPACE}/tables", {"name": TABLE, "schema": SCHEMA})
    manifest_list = f"{made['metadata']['location']}/metadata/empty.avro"
    Path(manifest_list.removeprefix("file://")).write_bytes(avro.manifest_list())
    return server, manifest_list


def metadata_of(uri):
    return Rest(uri, "default").load([NAMESPACE], TABLE)


def check(loaded, outcome):
    """Every acknowledged snapshot is there once, in one line of descent; nothing is there that nobody sent."""
    snapshots = loaded["metadata"]["snapshots"]
    ids = [snapshot["snapshot-id"] for snapshot in snapshots]
    assert len(ids) == len(set(ids)), "a snapshot is there twice"
    missing = set(outcome.acknowledged) - set(ids)
    assert not missing, f"{len(missing)} acknowledged snapshots are missing"
    uninvited = set(ids) - set(outcome.acknowledged) - set(outcome.unknown)
    assert not uninvited, f"{len(uninvited)} refused snapshots are there"
    parents = [snapshot.get("parent-snapshot-id") for snapshot in snapshots]
    assert parents == [None, *ids[:-1]], "history is not one line"
    assert [snapshot["sequence-number"] for snapshot in snapshots] == list(range(1, len(ids) + 1))
    return ids


def check_files(loaded):
    """Every metadata file that the table names can be read."""
    log = [entry["metadata-file"] for entry in loaded["metadata"]["metadata-log"]]
    for location in [*log, loaded["metadata-location"]]:
        json.loads(Path(location.removeprefix("file://")).read_text())


def test_every_acknowledged_commit_is_there_once(lake):
    server, manifest_list = lake
    outcome = Outcome()
    with server("first") as one, server("second") as two:
        writers = [Writer([one.uri, two.uri], manifest_list, outcome, commits=6) for _ in range(WRITERS)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join(timeout=240)
            assert not writer.is_alive() and writer.failure is None, writer.failure
        loaded = metadata_of(one.uri)
    print(f"answers {outcome.answers}")
    assert set(outcome.answers) <= {200, 409}, outcome.answers
    assert len(outcome.acknowledged) == WRITERS * 6
    assert len(check(loaded, outcome)) == len(outcome.acknowledged)
    check_files(loaded)


def test_nothing_is_lost_when_servers_are_killed_and_clients_hang_up(lake):
    server, manifest_list = lake
    seconds = float(os.environ.get("RACE_SECONDS", "15"))
    outcome, stop, servers = Outcome(), threading.Event(), {}
    running = [server("first"), server("second")]
    for one in running:
        servers[one.__enter__().uri] = one
    writers = [Writer(servers, manifest_list, outcome, stop=stop, hang_up=0.1) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    kills, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(1)
        victim = running[kills % 2]
        os.kill(victim.process.pid, signal.SIGKILL)
        victim.process.wait()
        del servers[victim.uri]
        servers[victim.__enter__().uri] = victim
        kills += 1
    stop.set()
    for writer in writers:
        writer.join(timeout=60)
        assert not writer.is_alive() and writer.failure is None, writer.failure
    time.sleep(1)  # a commit whose client hung up runs to its end
    loaded = metadata_of(running[0].uri)
    for one in running:
        one.__exit__(None, None, None)
    ids = check(loaded, outcome)
    landed = len(set(ids) & set(outcome.unknown))
    print(
        f"{kills} kills, answers {outcome.answers}, {len(ids)} snapshots, "
        f"{landed} of {len(outcome.unknown)} in doubt landed"
    )
    assert outcome.acknowledged, "nothing was acknowledged at all"
    check_files(loaded)
