"""The commit that leads from one metadata file to the next."""

import time


def commit(before, after):
    """A CommitTableRequest body that turns `before` into `after` (both parsed metadata files)."""
    return {"requirements": _requirements(before, after), "updates": _updates(before, after)}


def added_snapshots(before, after):
    """The snapshots that only `after` has."""
    known = {s["snapshot-id"] for s in before.get("snapshots", [])}
    return [s for s in after.get("snapshots", []) if s["snapshot-id"] not in known]


def essence(metadata):
    """What must be equal when a commit was replayed: everything but times, logs and file names."""
    keys = (
        "format-version table-uuid location last-sequence-number last-column-id current-schema-id schemas default-spec-id"
        " partition-specs last-partition-id default-sort-order-id sort-orders properties statistics partition-statistics"
        " next-row-id refs"
    ).split()
    found = {key: metadata.get(key) for key in keys}
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
    updates += _definitions(before, after)
    updates += _properties(before.get("properties", {}), after.get("properties", {}))
    if after["location"] != before["location"]:
        updates.append({"action": "set-location", "location": after["location"]})
    updates += [{"action": "add-snapshot", "snapshot": _as_of_now(s)} for s in added_snapshots(before, after)]
    updates += _refs(before.get("refs", {}), after.get("refs", {}))
    updates += _statistics(before, after)
    kept = {s["snapshot-id"] for s in after.get("snapshots", [])}
    gone = [s["snapshot-id"] for s in before.get("snapshots", []) if s["snapshot-id"] not in kept]
    return updates + [{"action": "remove-snapshots", "snapshot-ids": [snapshot]} for snapshot in gone]


def _definitions(before, after):
    """Schemas, partition specs and sort orders: new ones, then which is current."""
    kinds = (
        ("schemas", "schema-id", "add-schema", "schema", "current-schema-id", "set-current-schema", "schema-id"),
        ("partition-specs", "spec-id", "add-spec", "spec", "default-spec-id", "set-default-spec", "spec-id"),
        ("sort-orders", "order-id", "add-sort-order", "sort-order")
        + ("default-sort-order-id", "set-default-sort-order", "sort-order-id"),
    )
    for items, item_id, add, member, current, choose, chosen in kinds:
        known = {item[item_id] for item in before[items]}
        for item in after[items]:
            if item[item_id] not in known:
                yield {"action": add, member: item}
        if after[current] != before[current]:
            yield {"action": choose, chosen: after[current]}


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


def _statistics(before, after):
    kinds = (
        ("statistics", "set-statistics", "statistics", "remove-statistics"),
        ("partition-statistics", "set-partition-statistics", "partition-statistics", "remove-partition-statistics"),
    )
    for items, add, member, remove in kinds:
        old = {s["snapshot-id"]: s for s in before.get(items, [])}
        new = {s["snapshot-id"]: s for s in after.get(items, [])}
        for snapshot, statistics in new.items():
            if old.get(snapshot) != statistics:
                yield {"action": add, "snapshot-id": snapshot, member: statistics}
        for snapshot in old:
            if snapshot not in new:
                yield {"action": remove, "snapshot-id": snapshot}


def _as_of_now(snapshot):
    """The snapshot with the clock of the replay: one in the past could not follow a rollback that is replayed now."""
    return snapshot | {"timestamp-ms": int(time.time() * 1000)}
