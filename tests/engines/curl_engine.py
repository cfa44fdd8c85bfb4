"""curl: the protocol by hand. The examples of the documents are executed by test_curl.py."""

import json
import os
import subprocess

from claims import absent, same, step

URI, WAREHOUSE = os.environ["CATALOG_URI"], os.environ["CATALOG_WAREHOUSE"]
FIELDS = [
    {"id": 1, "name": "id", "type": "long", "required": True},
    {"id": 2, "name": "city", "type": "string", "required": False},
]
token = None


def curl(*arguments):
    """The parsed answer, or None when it has no body."""
    argv = ["curl", "--fail-with-body", "--silent", "--show-error", *arguments]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"{done.stderr.strip()} {done.stdout.strip()}")
    return json.loads(done.stdout) if done.stdout else None


def call(method, path, body=None):
    data = [] if body is None else ["--json", json.dumps(body)]
    return curl("-X", method, "-H", f"Authorization: Bearer {token}", *data, f"{URI}/v1/{WAREHOUSE}/{path}")


def create(name, version=3, **more):
    properties = {"format-version": str(version)}
    body = {"name": name, "schema": {"type": "struct", "fields": FIELDS}, "properties": properties} | more
    return call("POST", "namespaces/curl/tables", body)["metadata"]


def commit(name, *updates, requirements=()):
    body = {"requirements": list(requirements), "updates": list(updates)}
    return call("POST", f"namespaces/curl/tables/{name}", body)["metadata"]


def config():
    global token
    client, secret = os.environ["CATALOG_CREDENTIAL"].split(":")
    form = {"grant_type": "client_credentials", "client_id": client, "client_secret": secret}
    data = [part for key, value in form.items() for part in ("-d", f"{key}={value}")]
    token = curl(*data, f"{URI}/v1/oauth/tokens")["access_token"]
    address = f"{URI}/v1/config?warehouse={WAREHOUSE}"
    same(curl("-H", f"Authorization: Bearer {token}", address)["overrides"]["prefix"], WAREHOUSE)
    same(subprocess.run(["curl", "-sf", "-o", "/dev/null", address], stdin=subprocess.DEVNULL).returncode, 22)


def namespace():
    call("POST", "namespaces", {"namespace": ["curl"], "properties": {"owner": "someone"}})
    same(call("GET", "namespaces/curl")["properties"], {"owner": "someone"})


def created():
    same(create("t")["format-version"], 3)
    return [{"table": "curl.t", "version": 3, "rows": 0}]


def schema():
    fields = [*FIELDS, {"id": 3, "name": "zip", "type": "int", "required": False}]
    found = commit(
        "t",
        {"action": "add-schema", "schema": {"type": "struct", "fields": fields}},
        {"action": "set-current-schema", "schema-id": -1},
        requirements=[{"type": "assert-current-schema-id", "current-schema-id": 0}],
    )
    same([len(one["fields"]) for one in found["schemas"]], [2, 3])


def partition():
    spec = {"fields": [{"source-id": 1, "name": "bucket", "transform": "bucket[4]"}]}
    found = commit("t", {"action": "add-spec", "spec": spec}, {"action": "set-default-spec", "spec-id": -1})
    same(found["default-spec-id"], 1)


def upgraded():
    create("old", 2)
    commit("old", {"action": "upgrade-format-version", "format-version": 3})
    return [{"table": "curl.old", "version": 3, "rows": 0}]


def refs():
    table = "namespaces/history/tables/seed_v3"
    snapshot = call("GET", table)["metadata"]["current-snapshot-id"]
    update = {"action": "set-snapshot-ref", "ref-name": "tagged", "type": "tag", "snapshot-id": snapshot}
    found = call("POST", table, {"requirements": [], "updates": [update]})["metadata"]
    same(found["refs"]["tagged"]["snapshot-id"], snapshot)


def views():
    version = {
        "version-id": 1,
        "schema-id": 0,
        "timestamp-ms": 1,
        "summary": {},
        "default-namespace": ["curl"],
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}],
    }
    schema = {"type": "struct", "schema-id": 0, "fields": FIELDS}
    body = {"name": "v", "schema": schema, "view-version": version, "properties": {}}
    call("POST", "namespaces/curl/views", body)
    same(call("GET", "namespaces/curl/views")["identifiers"], [{"namespace": ["curl"], "name": "v"}])
    call("DELETE", "namespaces/curl/views/v")


def staged():
    found = create("staged", **{"stage-create": True})
    commit(
        "staged",
        {"action": "assign-uuid", "uuid": found["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": 3},
        {"action": "add-schema", "schema": found["schemas"][0]},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"fields": []}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": found["location"]},
        requirements=[{"type": "assert-create"}],
    )
    return [{"table": "curl.staged", "version": 3, "rows": 0}]


def names():
    create("moving")
    source, destination = ({"namespace": ["curl"], "name": name} for name in ("moving", "moved"))
    call("POST", "tables/rename", {"source": source, "destination": destination})
    call("DELETE", "namespaces/curl/tables/moved")
    create("purged")
    call("DELETE", "namespaces/curl/tables/purged?purgeRequested=true")
    left = [one["name"] for one in call("GET", "namespaces/curl/tables")["identifiers"]]
    same(left, ["old", "staged", "t"])


def transaction():
    changes = []
    for name in ("a", "b"):
        create(name)
        update = {"action": "set-properties", "updates": {"both": "x"}}
        identifier = {"namespace": ["curl"], "name": name}
        changes.append({"identifier": identifier, "requirements": [], "updates": [update]})
    call("POST", "transactions/commit", {"table-changes": changes})
    for name in ("a", "b"):
        same(call("GET", f"namespaces/curl/tables/{name}")["metadata"]["properties"]["both"], "x")


def planned():
    """The server plans the scan: the rows of its data files but for those that its vectors hide."""
    body = {"snapshot-id": call("GET", "namespaces/history/tables/seed_v3")["metadata"]["current-snapshot-id"]}
    found = call("POST", "namespaces/history/tables/seed_v3/plan", body)
    rows = sum(task["data-file"]["record-count"] for task in found["file-scan-tasks"])
    hidden = sum(one["record-count"] for one in found["delete-files"])
    same(rows - hidden, 99_999)


def variant():
    fields = [*FIELDS, {"id": 3, "name": "v", "type": "variant", "required": False}]
    same(create("v3", schema={"type": "struct", "fields": fields})["schemas"][0]["fields"][2]["type"], "variant")


def files():
    raise NotImplementedError("curl reads and writes no data files")


step("config", config)
step("namespace", namespace)
step("create", created)
for name in ("insert", "delete", "update", "merge", "maintenance", "streaming", "equality"):
    absent(name, files)
step("read", planned)
absent("read", files)
step("schema", schema)
step("partition", partition)
step("upgrade", upgraded)
step("refs", refs)
step("views", views)
step("ctas", staged)
step("names", names)
step("transaction", transaction)
absent("metadata", files)
step("variant", variant)
