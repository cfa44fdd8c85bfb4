"""ClickHouse in a process (chDB): its database engine for Iceberg REST catalogs."""

import chdb.session
import lake
from claims import absent, counts, same, step
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "city", StringType()))
session = chdb.session.Session()
catalog = None


def ask(query):
    return str(session.query(query)).strip()


def config():
    global catalog
    catalog = lake.pyiceberg()
    for setting in ("database_iceberg", "insert_into_iceberg", "experimental_iceberg_compaction"):
        ask(f"SET allow_{setting} = 1")
    settings = {
        "catalog_type": "rest",
        "warehouse": lake.WAREHOUSE,
        "storage_endpoint": f"http://{lake.XML}/warehouse",
        "catalog_credential": lake.CREDENTIAL,
        "oauth_server_uri": f"{lake.URI}/v1/oauth/tokens",
    }
    listed = ", ".join(f"{key} = '{value}'" for key, value in settings.items())
    ask(f"CREATE DATABASE lake ENGINE = DataLakeCatalog('{lake.URI}/v1', 'k', 's') SETTINGS {listed}")
    same("history.seed_v3" in ask("SHOW TABLES FROM lake"), True)


def rows(history):
    return ask(f"SELECT count(id) FROM lake.`history.{history}` WHERE id IS NOT NULL OR id IS NULL")


def make(name, version):
    """A table of PyIceberg's, to be written to."""
    catalog.create_namespace_if_not_exists("chdb")
    catalog.create_table(("chdb", name), SCHEMA, properties={"format-version": str(version)})


def now(name, **expected):
    """A proof of the snapshot that is current now, so that later steps do not blur it."""
    snapshot = catalog.load_table(("chdb", name)).current_snapshot().snapshot_id
    return [{"table": f"chdb.{name}", "snapshot": snapshot} | expected]


def created():
    place = f"IcebergS3('http://{lake.XML}/warehouse/chdb/made/', 'k', 's')"
    ask(f"CREATE TABLE lake.`chdb.made` (id Nullable(Int64), city Nullable(String)) ENGINE = {place}")
    same(catalog.table_exists(("chdb", "made")), True)


def inserted(version):
    name = f"v{version}"
    make(name, version)
    ask(f"INSERT INTO lake.`chdb.{name}` VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    same(ask(f"SELECT count(id) FROM lake.`chdb.{name}`"), "3")
    return now(name, rows=3, version=version)


def deleted():
    ask("ALTER TABLE lake.`chdb.v3` DELETE WHERE id = 1")
    return now("v3", rows=2, dvs=1)


def updated():
    ask("ALTER TABLE lake.`chdb.v2` UPDATE city = 'x' WHERE id = 2")
    same(ask("SELECT city FROM lake.`chdb.v2` WHERE id = 2"), '"x"')
    return now("v2", rows=3)


def upgraded():
    ask("ALTER TABLE lake.`chdb.v2` DELETE WHERE id = 1")
    same(ask("SELECT count(id) FROM lake.`chdb.v2`"), "2")
    ask("ALTER TABLE lake.`chdb.v2` MODIFY SETTING iceberg_format_version = 3")


def schema():
    ask("ALTER TABLE lake.`chdb.v2` ADD COLUMN zip Nullable(Int32)")
    same([field.name for field in catalog.load_table(("chdb", "v2")).schema().fields], ["id", "city", "zip"])


def time_travel():
    first = catalog.load_table(("chdb", "v2")).snapshots()[0].snapshot_id
    same(ask(f"SELECT count(id) FROM lake.`chdb.v2` SETTINGS iceberg_snapshot_id = {first}"), "3")


def view():
    ask("CREATE VIEW lake.`chdb.v` AS SELECT 1")
    if not catalog.view_exists(("chdb", "v")):
        raise NotImplementedError("ClickHouse makes a view of its own, of which the catalog hears nothing")


def metadata():
    same(int(ask("SELECT count() FROM system.iceberg_history WHERE database = 'lake'")) > 0, True)


def concurrent():
    raise NotImplementedError("chDB runs one query at a time in a process")


def no(query):
    return lambda: ask(query)


step("config", config)
absent("read", lambda: same(int(rows("seed_v3")), 99_999))
counts(rows)
absent("namespace", lambda: ask("CREATE DATABASE lake.made"))
absent("insert", lambda: inserted(2))
absent("insert", lambda: inserted(3))
absent("delete", deleted)
absent("update", updated)
absent("upgrade", upgraded)
absent("create", created)
absent("schema", schema)
absent("names", lambda: ask("RENAME TABLE lake.`chdb.v2` TO lake.`chdb.moved`"))
absent("views", view)
absent("maintenance", lambda: ask("OPTIMIZE TABLE lake.`chdb.v2`"))
absent("metadata", metadata)
absent("merge", no("MERGE INTO lake.`chdb.v2` USING lake.`chdb.v3` ON 1 WHEN MATCHED THEN DELETE"))
absent("partition", no("ALTER TABLE lake.`chdb.v2` MODIFY PARTITION BY id"))
absent("refs", time_travel)
absent("transaction", no("BEGIN TRANSACTION"))
absent("concurrent", concurrent)
absent("ctas", no("CREATE TABLE lake.`chdb.copied` AS SELECT 1 AS id"))
