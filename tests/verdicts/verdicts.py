#!/usr/bin/env python3
"""Every corrupt commit and every real table of the fixtures, through the REST API, on SQLite and on Postgres.

    python3 tests/env/run.py -- python tests/verdicts/verdicts.py

Prints a line a case and fails when one was judged otherwise than expected.
"""

import argparse
import itertools
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import replay

from env import fixtures, guillemot
from env.gcs import Gcs
from env.rest import Refused, Rest

# Steps of the real tables that released software committed and that must be refused.
BAD = {
    ("duckdb153_bad", 2): "puffin-head-magic",
    ("duckdb153_bad", 3): "puffin-head-magic",
    ("t16_bad_java", 2): "dv-references-unknown-data-file",
    ("t16_bad_java", 3): "dv-position-out-of-range",
}


class Verdicts:
    """Prints a line a case, and counts."""

    def __init__(self, setting, failures_only):
        self.setting, self.failures_only, self.passed, self.failed = setting, failures_only, 0, 0
        print(f"\n{setting}\n{'case':<44} {'expected':<34} {'given':<60} ok", flush=True)

    def line(self, case, expected, given, ok):
        """One case: what was expected and what the server did."""
        self.passed, self.failed = self.passed + ok, self.failed + (not ok)
        if not (ok and self.failures_only):
            print(f"{case:<44} {expected:<34} {given:<60} {'yes' if ok else 'NO'}", flush=True)


def main():
    options = _options()
    gcs = Gcs(os.environ["TEST_GCS_URL"])
    for table in fixtures.tables(options.fixtures):
        table.upload(gcs)
    if options.uri:
        return _close([_judge(options.uri, options.uri, "gs://warehouse", gcs, options)])
    done = []
    for setting in [options.only] if options.only else ["sqlite", "postgres"]:
        database = guillemot.postgres_database("verdicts") if setting == "postgres" else None
        with guillemot.Guillemot(database_url=database, warehouses={"lake": "gs://warehouse"}, gcs=gcs.url) as server:
            done.append(_judge(setting, server.uri, server.warehouse, gcs, options))
    return _close(done)


def _options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--failures", action="store_true", help="print only the cases judged otherwise than expected")
    parser.add_argument("--only", choices=("sqlite", "postgres"))
    parser.add_argument("--uri", help="judge a server that runs already, with a warehouse gs://warehouse")
    parser.add_argument("--fixtures", type=Path, default=fixtures.FOLDER)
    return parser.parse_args()


def _judge(setting, uri, warehouse, gcs, options):
    catalog, out = Rest(uri, warehouse), Verdicts(setting, options.failures)
    corrupt_commits(catalog, gcs, options.fixtures, out)
    for table in fixtures.tables(options.fixtures):
        real_table(catalog, table, out)
    return out


def _close(done):
    print()
    for verdicts in done:
        print(f"{verdicts.setting}: {verdicts.passed} as expected, {verdicts.failed} not")
    failed = sum(v.failed for v in done)
    print(f"{sum(v.passed for v in done)} passed, {failed} failed")
    return 1 if failed else 0


def corrupt_commits(catalog, gcs, folder, out):
    """Posts each corrupt commit to its base table: the code must be among the rules, and nothing may be left behind."""
    base = fixtures.table("t19_corrupt_base", folder)
    catalog.ensure_namespace(base.namespace)
    registered = {base.metadata(a).get("current-snapshot-id"): a for a in base.history()}
    for case in fixtures.corrupt_cases(folder):
        home = folder / "corrupt" / case["name"]
        files = fixtures.upload(gcs, home, base.location)
        before = set(gcs.list(f"{base.location}/metadata/"))
        request = json.loads((home / "commit.json").read_bytes())
        catalog.register(base.namespace, base.name, registered[case["base-snapshot-id"]])
        try:
            given, rules = _commit(catalog, base, request)
            location = catalog.load(base.namespace, base.name)["metadata-location"]
        finally:
            catalog.drop(base.namespace, base.name)
        new = set(gcs.list(f"{base.location}/metadata/")) - before
        accept = case.get("default", case["verdict"]) == "accept"
        if accept:
            ok = given == "accepted" and new == {location}
        else:
            unchanged = location == registered[case["base-snapshot-id"]] and not new
            ok = given != "accepted" and case["code"] in rules and unchanged
            given += "" if unchanged else " BUT LEFT: " + " ".join(sorted(new) or [location])
        out.line(f"corrupt/{case['name']}", "accepted" if accept else case["code"], given, ok)
        for address in {*files, *new}:
            gcs.delete(address)


def real_table(catalog, table, out):
    """Registers the table's first metadata file and replays each later one as a commit."""
    catalog.ensure_namespace(table.namespace)
    history = table.history()
    if table.name == "t05_expired":
        history = history[-2:]  # the manifest lists of the steps before were expired
    try:
        catalog.register(table.namespace, table.name, history[0])
    except Refused as e:
        out.line(f"{table.name} register", "accepted", str(e), False)
        return
    try:
        for number, (before, after) in enumerate(itertools.pairwise(history), start=1):
            if not _replay(catalog, table, number, before, after, out):
                catalog.drop(table.namespace, table.name)
                catalog.register(table.namespace, table.name, after)  # so that the next step has its base
    finally:
        catalog.drop(table.namespace, table.name)


def _replay(catalog, table, number, before, after, out):
    """One step; true when the table is now what its engine made of it."""
    before, after = table.metadata(before), table.metadata(after)
    expected = BAD.get((table.name, number))
    given, rules = _commit(catalog, table, replay.commit(before, after))
    if expected:
        ok = given != "accepted" and expected in rules
    elif given == "accepted":
        found, wanted = (replay.essence(m) for m in (catalog.load(table.namespace, table.name)["metadata"], after))
        differs = sorted(k for k in {*found, *wanted} if found.get(k) != wanted.get(k))
        ok = not differs
        given += f", differs in {', '.join(differs)}" if differs else ""
    else:
        ok = False
    out.line(f"{table.name} {number}", expected or "accepted", given, ok)
    return given == "accepted"


def _commit(catalog, table, request):
    """Posts a commit; what to print, and the ids of the rules that it broke."""
    try:
        catalog.commit(table.namespace, table.name, request)
    except Refused as e:
        rules = sorted(set(e.rules))
        return f"{e.status} {' '.join(rules) or e.message}", rules if e.status == 400 else []
    return "accepted", []


if __name__ == "__main__":
    sys.exit(main())
