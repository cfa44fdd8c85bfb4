"""Polars: scans through PyIceberg's catalog, with the reader of its own, and appends through PyIceberg."""

import lake
import polars
from claims import absent, counts, same, step
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "city", StringType()))
ROWS = polars.DataFrame({"id": [1, 2, 3], "city": ["a", "b", "c"]})
catalog = None


def config():
    global catalog
    catalog = lake.pyiceberg()
    same(("history",) in catalog.list_namespaces(), True)


def scan(namespace, name, **options):
    storage = {"google_base_url": lake.GCS, "google_skip_signature": "true"}
    table = catalog.load_table((namespace, name))
    return polars.scan_iceberg(table, reader_override="pyiceberg", storage_options=storage, **options)


def rows(history):
    return scan("history", history).select(polars.len()).collect().item()


def make(name, version):
    """A table of PyIceberg's, to be written to."""
    catalog.create_namespace_if_not_exists("polars")
    return catalog.create_table(("polars", name), SCHEMA, properties={"format-version": str(version)})


def inserted():
    table = make("t", 2)
    ROWS.write_iceberg(table, mode="append")
    ROWS.write_iceberg(table, mode="append")
    ROWS.write_iceberg(table, mode="overwrite")
    same(scan("polars", "t").collect().height, 3)
    return [{"table": "polars.t", "rows": 3}]


def time_travel():
    first = catalog.load_table(("polars", "t")).snapshots()[0].snapshot_id
    same(scan("polars", "t", snapshot_id=first).collect().height, 3)


def catalog_only():
    raise NotImplementedError("Polars has no such call: namespaces, tables and their changes are PyIceberg's")


step("config", config)
step("read", lambda: same(rows("seed_v3"), 99_999))
counts(rows)
step("insert", inserted)
absent("insert", lambda: ROWS.write_iceberg(make("v3", 3), mode="append"))
step("refs", time_travel)
for name in ("namespace", "create", "delete", "update", "merge", "schema", "partition", "upgrade", "views", "ctas"):
    absent(name, catalog_only)
for name in ("names", "maintenance", "transaction", "metadata", "streaming", "equality", "variant"):
    absent(name, catalog_only)
