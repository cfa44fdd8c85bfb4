"""PyIceberg: a catalog client, a reader of deletion vectors, and a writer of versions 1 and 2."""

import datetime

import lake
import pyarrow as pa
from claims import absent, counts, same, step, together
from pyiceberg.expressions import EqualTo
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion

SCHEMA = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "city", StringType()))
SCHEMA.identifier_field_ids.append(1)
ARROW = pa.schema([pa.field("id", pa.int64(), nullable=False), ("city", pa.string())])
NAMESPACE = "pyiceberg"
catalog = None


def load(name):
    return catalog.load_table((NAMESPACE, name))


def create(name, version=2):
    return catalog.create_table((NAMESPACE, name), SCHEMA, properties={"format-version": str(version)})


def rows(first, last, city="city"):
    return pa.table([list(range(first, last)), [f"{city} {i}" for i in range(first, last)]], schema=ARROW)


def now(name, **expected):
    """A proof of the snapshot that is current now, so that later steps do not blur it."""
    snapshot = load(name).current_snapshot().snapshot_id
    return [{"table": f"{NAMESPACE}.{name}", "snapshot": snapshot} | expected]


def config():
    global catalog
    catalog = lake.pyiceberg()
    same(("history",) in catalog.list_namespaces(), True)


def namespace():
    catalog.create_namespace(NAMESPACE, {"owner": "someone"})
    same(catalog.load_namespace_properties(NAMESPACE)["owner"], "someone")


def created():
    create("v3", 3)
    return [{"table": f"{NAMESPACE}.v3", "version": 3}]


def inserted():
    create("t").append(rows(0, 100))
    load("t").append(rows(100, 150))
    return now("t", rows=150)


def updated():
    load("t").overwrite(rows(8, 9, "moved"), overwrite_filter=EqualTo("id", 8))
    return now("t", rows=150)


def merged():
    done = load("t").upsert(rows(140, 160, "new"))
    same((done.rows_updated, done.rows_inserted), (10, 10))
    return now("t", rows=160)


def live(history):
    return len(catalog.load_table(("history", history)).scan().to_arrow())


def schema():
    with load("v3").update_schema() as update:
        update.add_column("zip", LongType())
        update.rename_column("city", "town")
    same([field.name for field in load("v3").schema().fields], ["id", "town", "zip"])


def partition():
    with load("t").update_spec() as update:
        update.add_identity("city")
    load("t").append(rows(200, 203))
    return now("t", rows=163)


def refs():
    first = load("t").snapshots()[0].snapshot_id
    same(load("t").scan(snapshot_id=first).count(), 100)
    head = load("t").current_snapshot().snapshot_id
    load("t").manage_snapshots().create_tag(first, "first").create_branch(head, "audit").commit()
    load("t").append(rows(300, 301), branch="audit")
    table = load("t")
    same(table.scan(snapshot_id=table.snapshot_by_name("audit").snapshot_id).count(), 164)
    same(table.scan(snapshot_id=table.snapshot_by_name("first").snapshot_id).count(), 100)
    return now("t", rows=163)


def views():
    sql = SQLViewRepresentation(type="sql", sql="select 1", dialect="spark")
    version = ViewVersion(
        version_id=1, schema_id=0, timestamp_ms=1, summary={}, representations=[sql], default_namespace=[NAMESPACE]
    )
    catalog.create_view((NAMESPACE, "v"), SCHEMA, version)
    same(catalog.list_views(NAMESPACE), [(NAMESPACE, "v")])
    same(catalog.load_view((NAMESPACE, "v")).metadata.versions[0].representations[0].root.sql, "select 1")
    catalog.drop_view((NAMESPACE, "v"))


def ctas():
    staged = catalog.create_table_transaction((NAMESPACE, "copied"), SCHEMA)
    same(catalog.table_exists((NAMESPACE, "copied")), False)
    staged.append(rows(0, 5))
    staged.commit_transaction()
    return now("copied", rows=5)


def names():
    create("moving")
    catalog.rename_table((NAMESPACE, "moving"), (NAMESPACE, "moved"))
    catalog.drop_table((NAMESPACE, "moved"))
    create("purged").append(rows(0, 1))
    catalog.purge_table((NAMESPACE, "purged"))
    left = {name for _, name in catalog.list_tables(NAMESPACE)}
    same(left & {"moving", "moved", "purged"}, set())


def maintenance():
    create("worn")
    for i in range(3):
        load("worn").append(rows(i, i + 1))
    load("worn").maintenance.expire_snapshots().older_than(
        datetime.datetime.now() + datetime.timedelta(days=1)
    ).commit()
    same(len(load("worn").snapshots()), 1)
    return now("worn", rows=3)


def transaction():
    raise NotImplementedError("PyIceberg's transactions are of one table")


def metadata():
    table = load("t").inspect
    for found in (table.snapshots(), table.files(), table.manifests(), table.history(), table.refs(), table.entries()):
        same(len(found) > 0, True)


def concurrent():
    create("shared")
    tables = [load("shared") for _ in range(4)]  # all of them from before the first write
    together(lambda i: tables[i].append(rows(i, i + 1)))
    return now("shared", rows=4)


def upgraded():
    create("old").append(rows(0, 20))
    with load("old").transaction() as change:
        change.upgrade_table_version(3)


def streaming():
    raise NotImplementedError("PyIceberg is a library: a program appends in its own rhythm")


def equality():
    raise NotImplementedError("PyIceberg deletes by rewriting data files")


def variant():
    catalog.create_table((NAMESPACE, "v"), Schema(NestedField(1, "v", "variant")), properties={"format-version": "3"})


step("config", config)
step("namespace", namespace)
step("create", created)
step("insert", inserted)
step("read", lambda: same(live("seed_v3"), 99_999))
counts(live)
absent("insert", lambda: load("v3").append(rows(0, 1)))
absent("delete", lambda: catalog.load_table(("history", "seed_v3")).delete("id = 7"))
step("update", updated)
step("merge", merged)
step("schema", schema)
step("partition", partition)
absent("upgrade", upgraded)
step("refs", refs)
step("views", views)
step("ctas", ctas)
step("names", names)
step("maintenance", maintenance)
absent("transaction", transaction)
step("metadata", metadata)
step("concurrent", concurrent)
absent("streaming", streaming)
absent("equality", equality)
absent("variant", variant)
