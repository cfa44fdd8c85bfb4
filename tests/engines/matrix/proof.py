"""What the engines claim, checked by a reader that is not the one who wrote."""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import duckdb_catalog
import pyiceberg_catalog
from pyiceberg.manifest import ManifestContent

from env import guillemot


class Reader:
    """PyIceberg for snapshots, delete files and rows; DuckDB for rows behind deletes that it cannot read."""

    def __init__(self, lake):
        self.lake = lake
        self.catalog = pyiceberg_catalog.connect(lake)

    def objections(self, proof):
        """What is not as `proof` says: `table`, and any of `snapshot`, `rows`, `dvs`, `equality`, `version`."""
        name = proof["table"]
        table = self.catalog.load_table(tuple(name.split(".")))
        snapshot = table.snapshot_by_id(proof["snapshot"]) if proof.get("snapshot") else table.current_snapshot()
        kinds = delete_files(table, snapshot)
        found = {"version": table.format_version, "dvs": kinds.count("PUFFIN"), "equality": kinds.count("EQUALITY")}
        if "rows" in proof:
            found["rows"] = self.rows(table, snapshot, name, equality=bool(found["equality"]))
        return [
            f"{name}: an independent reader finds {key} {found[key]}, not {proof[key]}"
            for key in found
            if key in proof and proof[key] != found[key]
        ]

    def rows(self, table, snapshot, name, equality):
        """The number of live rows."""
        if snapshot is None:
            return 0
        if not equality:
            try:
                return len(table.scan(snapshot_id=snapshot.snapshot_id).to_arrow())
            except OSError as e:
                if "Not yet implemented" not in str(e):  # Arrow, on the encoding of Trino's position deletes
                    raise
        at = f"AT (VERSION => {snapshot.snapshot_id})"
        return duckdb_catalog.connect(self.lake).execute(f"SELECT count(*) FROM lk.{name} {at}").fetchone()[0]

    def verify(self, name):
        """What `guillemot verify` has against a table, or None."""
        argv = [
            guillemot.binary(),
            "verify",
            "--uri",
            self.lake.uri,
            "--catalog-warehouse",
            self.lake.warehouse,
            "--name",
            name,
        ]
        variables = os.environ | ({"GUILLEMOT_GCS_ENDPOINT": self.lake.gcs} if self.lake.gcs else {})
        token = self.lake.token()
        variables |= {"GUILLEMOT_CATALOG_TOKEN": token} if token else {}
        done = subprocess.run(
            list(map(str, argv)), env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
        )
        return (
            None
            if done.returncode == 0
            else f"verify {name}: {done.stdout.strip()[-600:]} {done.stderr.strip()[-300:]}"
        )


def delete_files(table, snapshot):
    """The kind of every live delete file: PUFFIN, EQUALITY or POSITION."""
    kinds = []
    for manifest in snapshot.manifests(table.io) if snapshot else []:
        if manifest.content != ManifestContent.DELETES:
            continue
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True):
            file = entry.data_file
            if file.content.value == 2:
                kinds.append("EQUALITY")
            else:
                kinds.append("PUFFIN" if str(file.file_format.value).upper() == "PUFFIN" else "POSITION")
    return kinds
