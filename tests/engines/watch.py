"""What the server says of what it was sent: warnings, metrics, and the verdict on what is there now."""

import json
import os
import subprocess
import urllib.parse
import urllib.request

from env import guillemot


def warnings(lake, namespace, table):
    """The rules that changes of a table broke without being refused: rule to messages."""
    found, token = {}, ""
    while token is not None:
        query = urllib.parse.urlencode({"pageSize": 500, "pageToken": token})
        page = json.loads(_get(lake, f"/management/v1/warehouses/{lake.warehouse}/warnings?{query}"))
        for warning in page["warnings"]:
            if warning["table"] == {"namespace": [namespace], "name": table}:
                found.setdefault(warning["rule"], []).append(warning["message"])
        token = page.get("next-page-token")
    return found


def deletes(lake, namespace, table, top=20):
    """What the deletes of a table cost."""
    path = f"/management/v1/warehouses/{lake.warehouse}/namespaces/{namespace}/tables/{table}/deletes?top={top}"
    return json.loads(_get(lake, path))


def metrics(lake):
    """Every series of `/metrics`, by name and labels as they are written."""
    lines = _get(lake, "/metrics").decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line and line[0] != "#"}


def refusals(lake):
    """How many broken rules were refused so far."""
    return sum(count for series, count in metrics(lake).items() if series.startswith("guillemot_rule_refusals_total"))


def verify(lake, *names):
    """Runs `guillemot verify` over every snapshot of tables; their reports. Fails unless all are in order."""
    argv = [guillemot.binary(), "verify", "--uri", lake.uri, "--catalog-warehouse", lake.warehouse]
    argv += ["--all-snapshots", "--json"]
    for name in names:
        argv += ["--name", name]
    said = _run(lake, argv)
    assert said.returncode == 0, said.stdout + said.stderr
    tables = json.loads(said.stdout)["tables"]
    assert len(tables) == len(names) and all(table["verdict"] == "ok" for table in tables)
    return tables


def inspect(lake, address):
    """What `guillemot inspect` prints of a file."""
    said = _run(lake, [guillemot.binary(), "inspect", address])
    assert said.returncode == 0, said.stdout + said.stderr
    return said.stdout


def _run(lake, argv):
    variables = {k: v for k, v in os.environ.items() if not k.startswith("GUILLEMOT_")}
    if lake.gcs:
        variables["GUILLEMOT_GCS_ENDPOINT"] = lake.gcs
    return subprocess.run(argv, capture_output=True, text=True, timeout=300, env=variables)


def _get(lake, path):
    with urllib.request.urlopen(lake.uri.removesuffix("/iceberg") + path, timeout=120) as answer:
        return answer.read()
