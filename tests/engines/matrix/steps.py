"""The steps of the matrix, and the file that keeps what each engine did at each of them."""

import json
from pathlib import Path

RESULTS = Path(__file__).with_name("results.jsonl")

STEPS = {
    "config": "config and auth",
    "namespace": "create namespace",
    "create": "create V3 table",
    "insert": "insert",
    "delete": "delete (a DV is written and passes)",
    "update": "update",
    "merge": "merge, upsert",
    "read": "read with DVs applied",
    "schema": "schema evolution",
    "partition": "partition evolution",
    "upgrade": "V2 with position deletes, upgrade to V3, delete again",
    "refs": "time travel, branch, tag",
    "views": "views",
    "ctas": "CTAS, replace (staged create)",
    "names": "rename, drop, purge",
    "maintenance": "maintenance",
    "transaction": "transaction over several tables",
    "metadata": "metadata tables",
    "concurrent": "concurrent writers",
    "streaming": "streaming write",
    "equality": "upsert with equality deletes",
    "variant": "variant columns",
}
# What a line of the file can say of a step.
MARKS = {"pass": "pass", "fail": "FAIL", "fault": "its fault", "absent": "no", "unserved": "not served"}
# Tables of tests/data/fixtures that every reader counts, with the number of their live rows.
HISTORIES = {
    "seed_v3": 99_999,
    "t02_partitioned": 1_700,
    "t02b_manyfiles": 341,
    "t03_upgraded_partition": 301,
    "t04_merge": 1_004,
    "t07_evolve": 198,
    "t09_big": 290_231,
    "t13_eqdelete": 194,
}
COUNT = "count "


def merged(lines):
    """One line a step: a failure or fault outweighs a success, and a success what is missing."""
    found = {}
    for line in lines:
        if line["step"].removeprefix(COUNT) not in STEPS | HISTORIES:
            raise ValueError(f"no such step: {line}")
        if line["result"] not in MARKS:
            raise ValueError(f"no such result: {line}")
        old = found.setdefault(line["step"], line | {"message": ""})
        old["result"] = min(old["result"], line["result"], key=["fail", "fault", "pass", "absent", "unserved"].index)
        old["message"] = "; ".join(m for m in (old["message"], line.get("message") or "") if m)
    return list(found.values())


def load(path=RESULTS):
    """All lines."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def replace(engine, lines, path=RESULTS):
    """Puts the lines of one engine in the place of its old ones."""
    order = [*STEPS, *(COUNT + name for name in HISTORIES)]
    kept = [line for line in load(path) if line["engine"] != engine]
    everything = sorted(kept + lines, key=lambda line: (line["engine"], order.index(line["step"])))
    members = ("engine", "version", "step", "result", "message")
    path.write_text("".join(json.dumps({m: line[m] for m in members}) + "\n" for line in everything))
