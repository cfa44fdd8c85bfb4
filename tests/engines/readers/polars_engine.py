"""Polars: scans through PyIceberg's catalog, with the reader of its own."""

import lake
import polars
from claims import counts, same, step

catalog = None


def config():
    global catalog
    catalog = lake.pyiceberg()
    same(("history",) in catalog.list_namespaces(), True)


def rows(history):
    options = {"google_base_url": lake.GCS, "google_skip_signature": "true"}
    scan = polars.scan_iceberg(
        catalog.load_table(("history", history)), reader_override="pyiceberg", storage_options=options
    )
    return scan.select(polars.len()).collect().item()


step("config", config)
step("read", lambda: same(rows("seed_v3"), 99_999))
counts(rows)
