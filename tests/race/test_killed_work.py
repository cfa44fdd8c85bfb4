"""Servers are killed in the middle of their work: it goes on, keys find their answers, nothing is left over."""

import http.client
import json
import os
import random
import signal
import threading
import time
import urllib.parse
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from env.gcs import Gcs
from env.guillemot import Guillemot, postgres_database
from env.rest import Rest
from race import avro

SCHEMA = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]}
MANIFESTS, FILES_EACH = 40, 50


@pytest.fixture
def database():
    return postgres_database(f"killed_{uuid.uuid4().hex[:12]}")


def kill(server):
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()


def wait_until(what, check, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = check()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"it did not come to pass that {what}")


def big_table(gcs, location):
    """Metadata of a table with many data files; all files are written but the metadata file itself."""
    names, manifests = [], []
    for m in range(MANIFESTS):
        data = [f"{location}/data/{m}-{i}.parquet" for i in range(FILES_EACH)]
        body = avro.manifest(data)
        manifests.append((f"{location}/metadata/m{m}.avro", len(body), FILES_EACH))
        names += [(name, b"data") for name in data] + [(manifests[-1][0], body)]
    snapshot_list = f"{location}/metadata/snap-1.avro"
    names.append((snapshot_list, avro.manifest_list(manifests)))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda pair: gcs.put(*pair), names))
    snapshot = {"snapshot-id": 1, "sequence-number": 1, "timestamp-ms": 1700000000000, "manifest-list": snapshot_list}
    snapshot |= {"summary": {"operation": "append"}, "schema-id": 0}
    return {
        "format-version": 2,
        "table-uuid": str(uuid.uuid4()),
        "location": location,
        "last-sequence-number": 1,
        "last-updated-ms": 1700000000000,
        "last-column-id": 1,
        "schemas": [SCHEMA],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "current-snapshot-id": 1,
        "snapshots": [snapshot],
        "refs": {"main": {"snapshot-id": 1, "type": "branch"}},
    }


def test_a_purge_whose_servers_are_killed_is_finished_by_another(database):
    gcs = Gcs(os.environ["TEST_GCS_URL"])
    bucket = f"killed-{uuid.uuid4().hex[:12]}"
    gcs.create_bucket(bucket)

    def server(*arguments):
        lake = {"lake": f"gs://{bucket}"}
        return Guillemot(database_url=database, warehouses=lake, gcs=gcs.url, arguments=arguments)

    def worker():
        return server("--task-interval-s", "1", "--task-lease-s", "2")

    with server("--task-interval-s", "0") as front:
        rest = Rest(front.uri, "lake")
        rest.ensure_namespace(["ns"])
        location = f"gs://{bucket}/ns/big"
        metadata = f"{location}/metadata/00000-{uuid.uuid4()}.metadata.json"
        gcs.put(metadata, json.dumps(big_table(gcs, location)).encode())
        rest.register(["ns"], "big", metadata)
        gcs.put(f"{location}/data/nobody-names-me", b"data")
        spared = rest.call("POST", f"{rest.base}/namespaces/ns/tables", {"name": "spared", "schema": SCHEMA})
        before = len(gcs.list(f"{location}/"))
        assert before == MANIFESTS * (FILES_EACH + 1) + 3
        rest.call("DELETE", f"{rest.base}/namespaces/ns/tables/big?purgeRequested=true")

        def task():
            tasks = json.loads(read(front.uri, "/management/v1/tasks"))["tasks"]
            return next(task for task in tasks if task["kind"] == "purge-table")

        assert task()["state"] == "queued"
        left, kills = gcs.list(f"{location}/"), 0

        def goes_on():
            return task()["attempts"] == kills + 1 and len(gcs.list(f"{location}/")) < len(left) - 50

        while kills < 3:
            workers = [worker(), worker()]
            for one in workers:
                one.__enter__()
            wait_until("files are deleted", goes_on)
            for one in workers:
                kill(one)
                one.__exit__(None, None, None)
            kills += 1
            left = gcs.list(f"{location}/")
            print(f"killed two servers: {len(left)} of {before} files are left")
            assert metadata in left and f"{location}/metadata/snap-1.avro" in left, "what names others goes last"
            assert task()["state"] == "running", "nobody said that it is over"
        with worker():
            wait_until("the purge is done", lambda: task()["state"] == "done")
        assert gcs.list(f"{location}/") == [f"{location}/data/nobody-names-me"]
        assert task()["attempts"] == kills + 1
        assert rest.load(["ns"], "spared") == spared


def read(uri, path):
    parts = urllib.parse.urlsplit(uri)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    finally:
        connection.close()


def uuid7():
    value = (int(time.time() * 1000) << 80) | 0x7 << 76 | 0x2 << 62
    value |= random.getrandbits(12) << 64 | random.getrandbits(62)
    return str(uuid.UUID(int=value))


class Setter(threading.Thread):
    """Sets properties, one a commit, each with a key that it sends again, anywhere, until it has an answer."""

    def __init__(self, name, servers, stop):
        super().__init__(daemon=True)
        self.name, self.servers, self.stop = name, servers, stop
        self.acknowledged, self.repeated, self.refused, self.failure = [], 0, 0, None

    def run(self):
        try:
            while not self.stop.is_set():
                self._set(f"{self.name}-{len(self.acknowledged) + self.refused}")
        except Exception as e:
            self.failure = e

    def _set(self, name):
        update = {"action": "set-properties", "updates": {name: "done"}}
        body, key = json.dumps({"requirements": [], "updates": [update]}), uuid7()
        tries = 0
        while True:
            tries += 1
            status = self._send(body, key)
            if status in (200, 409):
                break
            assert status in ("cut off", 500, 503), status
            time.sleep(0.05)
        self.repeated += tries > 1
        if status == 200:
            self.acknowledged.append(name)
        else:
            self.refused += 1

    def _send(self, body, key):
        uri = urllib.parse.urlsplit(random.choice(list(self.servers)))
        connection = http.client.HTTPConnection(uri.hostname, uri.port, timeout=30)
        try:
            headers = {"Content-Type": "application/json", "Idempotency-Key": key}
            connection.request("POST", f"{uri.path}/v1/namespaces/ns/tables/t", body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, http.client.HTTPException):
            return "cut off"
        finally:
            connection.close()


def test_killed_servers_answer_each_key_once_and_leave_no_file(database, tmp_path):
    seconds = float(os.environ.get("RACE_SECONDS", "15"))

    def server(name, *arguments):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        lake = {"default": f"file://{tmp_path}/lake"}
        return Guillemot(folder=folder, database_url=database, warehouses=lake, arguments=arguments)

    running = [server("first", "--task-interval-s", "0"), server("second", "--task-interval-s", "0")]
    servers = {one.__enter__().uri: one for one in running}
    rest = Rest(running[0].uri, "default")
    rest.ensure_namespace(["ns"])
    properties = {"write.metadata.previous-versions-max": "100000"}
    body = {"name": "t", "schema": SCHEMA, "properties": properties}
    made = rest.call("POST", f"{rest.base}/namespaces/ns/tables", body)
    folder = Path(made["metadata"]["location"].removeprefix("file://")) / "metadata"

    stop = threading.Event()
    setters = [Setter(str(n), servers, stop) for n in range(8)]
    for setter in setters:
        setter.start()
    kills, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(1)
        victim = running[kills % 2]
        kill(victim)
        del servers[victim.uri]
        servers[victim.__enter__().uri] = victim
        kills += 1
    stop.set()
    for setter in setters:
        setter.join(timeout=60)
        assert not setter.is_alive() and setter.failure is None, setter.failure

    loaded = Rest(running[0].uri, "default").load(["ns"], "t")
    there = {name for name, value in loaded["metadata"]["properties"].items() if value == "done"}
    acknowledged = {name for setter in setters for name in setter.acknowledged}
    assert acknowledged == there, "what was acknowledged is there, and nothing else is"
    log = [entry["metadata-file"] for entry in loaded["metadata"]["metadata-log"]]
    assert len(log) == len(acknowledged), "each one was made once"
    named = {Path(location).name for location in [*log, loaded["metadata-location"]]}
    orphans = {file.name for file in folder.iterdir()} - named
    repeated, refused = sum(s.repeated for s in setters), sum(s.refused for s in setters)
    print(f"{kills} kills, {len(acknowledged)} commits, {repeated} sent again, {refused} refused")
    print(f"{len(orphans)} files that nothing names")
    assert repeated, "no commit was ever in doubt"
    for one in running:
        one.__exit__(None, None, None)

    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE loose_files SET since_ms = 0")
        connection.execute("UPDATE tasks SET due_ms = 0 WHERE id = 'sweep-files'")
        with server("third", "--task-interval-s", "1"):
            left = "SELECT count(*) FROM loose_files"
            wait_until("the sweep is over", lambda: connection.execute(left).fetchone() == (0,))
    assert {file.name for file in folder.iterdir()} == named, "neither more nor less than what the table names"


def test_a_server_that_is_asked_to_stop_gives_its_work_back(database, tmp_path):
    def server(*arguments):
        return Guillemot(database_url=database, warehouses={"lake": f"file://{tmp_path}/lake"}, arguments=arguments)

    with server("--task-interval-s", "1", "--task-lease-s", "600") as one:
        rest = Rest(one.uri, "lake")
        rest.ensure_namespace(["ns"])
        rest.call("POST", f"{rest.base}/namespaces/ns/tables", {"name": "t", "schema": SCHEMA})
        rest.call("DELETE", f"{rest.base}/namespaces/ns/tables/t?purgeRequested=true")
    with psycopg.connect(database, autocommit=True) as connection:
        held = connection.execute("SELECT id, state FROM tasks WHERE state = 'running'").fetchall()
        assert held == [], "no lease of ten minutes is left behind"
