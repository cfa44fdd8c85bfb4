"""Well-behaved writers that append empty snapshots to one table as fast as they can."""

import http.client
import json
import random
import threading
import time
import urllib.parse

NAMESPACE, TABLE = "race", "t"
PATH = f"/v1/namespaces/{NAMESPACE}/tables/{TABLE}"


class Outcome:
    """What the writers were told."""

    def __init__(self):
        self.lock = threading.Lock()
        self.acknowledged = []
        self.unknown = []
        self.answers = {}

    def note(self, status, snapshot_id):
        with self.lock:
            self.answers[status] = self.answers.get(status, 0) + 1
            if status == 200:
                self.acknowledged.append(snapshot_id)
            elif status in ("hung up", "cut off", 500, 502, 503, 504):
                self.unknown.append(snapshot_id)


class Writer(threading.Thread):
    """Appends until it has `commits` acknowledged ones, or until `stop` is set."""

    def __init__(self, servers, manifest_list, outcome, commits=None, stop=None, hang_up=0.0):
        super().__init__(daemon=True)
        self.servers, self.manifest_list, self.outcome = servers, manifest_list, outcome
        self.commits, self.stop, self.hang_up = commits, stop, hang_up
        self.random = random.Random()
        self.failure = None

    def run(self):
        try:
            done = 0
            while not (self.stop.is_set() if self.stop else done >= self.commits):
                done += self._append() == 200
        except Exception as e:
            self.failure = e

    def _append(self):
        status, base = self._call("GET", PATH)
        if status != 200:
            time.sleep(0.05)
            return status
        metadata = base["metadata"]
        head = metadata.get("refs", {}).get("main", {}).get("snapshot-id")
        snapshot_id = self.random.randrange(1 << 40, 1 << 62)
        snapshot = {
            "snapshot-id": snapshot_id,
            "sequence-number": metadata["last-sequence-number"] + 1,
            "timestamp-ms": int(time.time() * 1000),
            "summary": {"operation": "append"},
            "schema-id": 0,
            "manifest-list": self.manifest_list,
        }
        if head is not None:
            snapshot["parent-snapshot-id"] = head
        body = {
            "requirements": [
                {"type": "assert-table-uuid", "uuid": metadata["table-uuid"]},
                {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": head},
            ],
            "updates": [
                {"action": "add-snapshot", "snapshot": snapshot},
                {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": snapshot_id},
            ],
        }
        hangs_up = self.random.random() < self.hang_up
        status, _ = self._call("POST", PATH, body, hangs_up)
        self.outcome.note(status, snapshot_id)
        return status

    def _call(self, method, path, body=None, hangs_up=False):
        uri = urllib.parse.urlsplit(self.random.choice(list(self.servers)))
        connection = http.client.HTTPConnection(uri.hostname, uri.port, timeout=30)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, uri.path + path, data, {"Content-Type": "application/json"})
            if hangs_up:
                time.sleep(self.random.random() * 0.01)
                return "hung up", None
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        except (OSError, http.client.HTTPException, ValueError):
            return "cut off", None
        finally:
            connection.close()
