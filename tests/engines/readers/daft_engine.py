"""Daft, through PyIceberg's catalog. Its GCS client knows no emulator, so the lake is a local folder."""

import daft
import lake
from claims import absent, same, step
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "city", StringType()))
catalog = None


def config():
    global catalog
    catalog = lake.pyiceberg()


def create(name, version):
    return catalog.create_table(("daft", name), SCHEMA, properties={"format-version": version})


def write(table, mode):
    daft.from_pydict({"id": [1, 2, 3], "city": ["a", "b", "c"]}).write_iceberg(table, mode=mode)


def inserted():
    table = create("old", "2")
    write(table, "append")
    write(table, "append")
    same(daft.read_iceberg(catalog.load_table(("daft", "old"))).count_rows(), 6)
    write(catalog.load_table(("daft", "old")), "overwrite")
    same(daft.read_iceberg(catalog.load_table(("daft", "old"))).count_rows(), 3)
    return [{"table": "daft.old", "rows": 3}]


def created():
    create("t", "3")
    return [{"table": "daft.t", "version": 3}]


def read():
    raise NotImplementedError("Daft's client of Google knows no emulator, and the histories lie in gs://")


def catalog_only():
    raise NotImplementedError("Daft has no such call: tables and their changes are PyIceberg's")


step("config", config)
step("namespace", lambda: catalog.create_namespace(("daft",)))
step("create", created)
step("insert", inserted)
absent("insert", lambda: write(catalog.load_table(("daft", "t")), "append"))
absent("read", read)
for name in ("delete", "update", "merge", "schema", "partition", "upgrade", "views", "ctas", "names", "maintenance"):
    absent(name, catalog_only)
for name in ("transaction", "metadata", "streaming", "equality", "variant"):
    absent(name, catalog_only)
