"""The commit that leads from one metadata file to the next."""

import time

# What must be equal when a commit was replayed: everything but times, logs and the metadata file's name.
ESSENCE = [
    "format-version",
    "table-uuid",
    "location",
    "last-sequence-number",
    "next-row-id",
    "last-column-id",
    "schemas",
    "current-schema-id",
    "partition-specs",
    "default-spec-id",
    "last-partition-id",
    "sort-orders",
    "default-sort-order-id",
    "properties",
    "refs",
    "statistics",
    "partition-statistics",
]


def commit(before, after):
    """A CommitTableRequest body that turns `before` into `after` (both parsed metadata files)."""
    return {"requirements": _requirements(before, after), "updates": _updates(before, after)}


def essence(metadata):
    """The members of ESSENCE, and the snapshots without their times; what is empty is left out."""
    found = {key: metadata.get(key) for key in ESSENCE}
    found["current-snapshot-id"] = metadata.get("current-snapshot-id") or -1  # absent, null and -1 mean none
    snapshots = metadata.get("snapshots", [])
    found["snapshots"] = [{k: v for k, v in s.items() if k != "timestamp-ms"} for s in snapshots]
    return {key: value for key, value in found.items() if value not in (None, [], {})}


def _requirements(before, after):
    requirements = [{"type": "assert-table-uuid", "uuid": before["table-uuid"]}]
    old, new = before.get("refs", {}), after.get("refs", {})
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            current = old.get(name, {}).get("snapshot-id")
            requirements.append({"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": current})
    return requirements


def _updates(before, after):
    updates = []
    if after["format-version"] != before["format-version"]:
        updates.append({"action": "upgrade-format-version", "format-version": after["format-version"]})
    updates += _definitions(before, after, "schemas", "schema-id", "schema", ("current-schema-id", "schema-id"))
    updates += _definitions(before, after, "partition-specs", "spec-id", "spec", ("default-spec-id", "spec-id"))
    updates += _definitions(
        before, after, "sort-orders", "order-id", "sort-order", ("default-sort-order-id", "sort-order-id")
    )
    updates += _properties(before.get("properties", {}), after.get("properties", {}))
    if after["location"] != before["location"]:
        updates.append({"action": "set-location", "location": after["location"]})
    known, kept = ({s["snapshot-id"] for s in m.get("snapshots", [])} for m in (before, after))
    added = [s for s in after.get("snapshots", []) if s["snapshot-id"] not in known]
    updates += [{"action": "add-snapshot", "snapshot": _as_of_now(s)} for s in added]
    updates += _refs(before.get("refs", {}), after.get("refs", {}))
    updates += _statistics(before, after, "statistics")
    updates += _statistics(before, after, "partition-statistics")
    gone = [s["snapshot-id"] for s in before.get("snapshots", []) if s["snapshot-id"] not in kept]
    return updates + [{"action": "remove-snapshots", "snapshot-ids": [snapshot]} for snapshot in gone]


def _definitions(before, after, items, item_id, kind, chosen):
    """Schemas, partition specs or sort orders: the new ones, then which is current."""
    current, member = chosen
    known = {item[item_id] for item in before[items]}
    for item in after[items]:
        if item[item_id] not in known:
            yield {"action": f"add-{kind}", kind: item}
    if after[current] != before[current]:
        yield {"action": f"set-{current.removesuffix('-id')}", member: after[current]}


def _properties(old, new):
    changed = {k: v for k, v in new.items() if old.get(k) != v}
    gone = sorted(set(old) - set(new))
    if changed:
        yield {"action": "set-properties", "updates": changed}
    if gone:
        yield {"action": "remove-properties", "removals": gone}


def _refs(old, new):
    for name, ref in new.items():
        if old.get(name) != ref:
            yield {"action": "set-snapshot-ref", "ref-name": name, **ref}
    for name in old:
        if name not in new:
            yield {"action": "remove-snapshot-ref", "ref-name": name}


def _statistics(before, after, kind):
    old = {s["snapshot-id"]: s for s in before.get(kind, [])}
    new = {s["snapshot-id"]: s for s in after.get(kind, [])}
    for snapshot, statistics in new.items():
        if old.get(snapshot) != statistics:
            yield {"action": f"set-{kind}", "snapshot-id": snapshot, kind: statistics}
    for snapshot in old:
        if snapshot not in new:
            yield {"action": f"remove-{kind}", "snapshot-id": snapshot}


def _as_of_now(snapshot):
    """The snapshot with the clock of the replay: one in the past could not follow a rollback that is replayed now."""
    return snapshot | {"timestamp-ms": int(time.time() * 1000)}
