"""`guillemot import`, of catalogs that PyIceberg and Spark wrote: afterwards their rows are read here, by name."""

import sys

import pyarrow as pa
import pytest
from conftest import Lake
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from pyiceberg_catalog import connect

from env import cache, guillemot
from env.gcs import Gcs

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False), NestedField(2, "city", StringType(), required=False))
EMULATOR = {"gcs.oauth2.token": "any", "gcs.oauth2.token-expires-at": "9999999999999"}


def rows(*ids):
    return pa.table({"id": pa.array(ids, pa.int64()), "city": [f"city {i}" for i in ids]})


def scan(table):
    """All rows, sorted."""
    return sorted(zip(*table.scan().to_arrow().to_pydict().values(), strict=True))


def last(text):
    """The sum of an import."""
    return text.splitlines()[-1]


@pytest.fixture(scope="module")
def sql_catalog():
    """PyIceberg's catalog in a database."""
    sys.path.append(str(cache.sql()))
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_sql_catalog_of_pyiceberg(sql_catalog, gcs, tmp_path, kind):
    bucket = f"gs://import-{kind}"
    Gcs(gcs).create_bucket(bucket.removeprefix("gs://"))
    if kind == "sqlite":
        url = ours = f"sqlite:///{tmp_path}/sql.db"
    else:
        ours = guillemot.postgres_database("import_sql")
        url = "postgresql+psycopg://" + ours.partition("://")[2]
    source = sql_catalog("old", uri=url, warehouse=f"{bucket}/wh", **EMULATOR, **{"gcs.service.host": gcs})
    source.create_namespace("sales", {"owner": "me"})
    source.create_namespace(("sales", "eu"))
    tables = {}
    for name in ("sales.cities", "sales.eu.towns"):
        table = source.create_table(name, SCHEMA)
        table.append(rows(1, 2, 3))
        table.append(rows(4, 5))
        table.delete("id = 2")
        tables[name] = table
    with guillemot.Guillemot(tmp_path, warehouses={"lake": bucket}, gcs=gcs) as server:
        argv = ["import", "jdbc", "--database", url, "--gcs-endpoint", gcs]
        would = server.manage(*argv, "--dry-run")
        assert last(would) == "would import 2 tables, 0 views, 2 namespaces; 0 already there; 0 failed"
        lake = Lake(server.uri, "lake", bucket, gcs)
        catalog = connect(lake)
        assert catalog.list_namespaces() == []
        done = server.manage(*argv)
        assert last(done) == "imported 2 tables, 0 views, 2 namespaces; 0 already there; 0 failed"
        for name, table in tables.items():
            imported = catalog.load_table(name)
            assert imported.metadata == table.metadata
            assert scan(imported) == scan(table) == [(i, f"city {i}") for i in (1, 3, 4, 5)]
        assert catalog.load_namespace_properties("sales") == {"owner": "me"}
        again = server.manage(*argv, "--catalog-name", "old")
        assert last(again) == "imported 0 tables, 0 views, 0 namespaces; 4 already there; 0 failed"
        # Our own way to write the URL, too.
        again = server.manage("import", "jdbc", "--database", ours, "--gcs-endpoint", gcs)
        assert last(again).endswith("4 already there; 0 failed")
        # The source went on, and we follow; then we go on, and it does not.
        tables["sales.cities"].append(rows(6))
        assert "1 updated; 3 already there" in last(server.manage(*argv, "--update"))
        catalog.load_table("sales.cities").append(rows(7))
        assert last(server.manage(*argv, "--update")).endswith("; 4 already there; 0 failed")
        assert [i for i, _ in scan(catalog.load_table("sales.cities"))] == [1, 3, 4, 5, 6, 7]


def test_a_hadoop_catalog_of_spark(spark, tmp_path):
    with guillemot.Guillemot(tmp_path) as server:
        root = tmp_path / "warehouse" / "old"
        session = "import"
        for key, value in {
            "hc": "org.apache.iceberg.spark.SparkCatalog",
            "hc.type": "hadoop",
            "hc.warehouse": f"file://{root}",
            "imported": "org.apache.iceberg.spark.SparkCatalog",
            "imported.type": "rest",
            "imported.uri": server.uri,
            "imported.warehouse": "default",
            "imported.cache-enabled": "false",
        }.items():
            spark.rows(f"SET `spark.sql.catalog.{key}` = `{value}`", session)

        def sql(text):
            return spark.rows(text, session)

        merge_on_read = "'write.delete.mode' = 'merge-on-read'"
        for name, version in (("sales.cities", 3), ("sales.eu.towns", 2)):
            sql(
                f"""CREATE TABLE hc.{name} USING iceberg
                    TBLPROPERTIES ('format-version' = '{version}', {merge_on_read})
                    AS SELECT /*+ COALESCE(1) */ id, concat('city ', id) AS city FROM range(0, 50)"""
            )
            sql(f"DELETE FROM hc.{name} WHERE id % 10 = 3")
        hint = root / "sales" / "cities" / "metadata" / "version-hint.text"
        newest = int(hint.read_text())
        hint.write_text("1")  # it lags
        (hint.parent / ".version-hint.text.crc").unlink(missing_ok=True)
        (root / "sales" / "eu" / "towns" / "metadata" / "version-hint.text").unlink()
        expected = {name: sql(f"SELECT * FROM hc.{name} ORDER BY id") for name in ("sales.cities", "sales.eu.towns")}

        done = server.manage("import", "hadoop", f"file://{root}")
        assert last(done) == "imported 2 tables, 0 views, 2 namespaces; 0 already there; 0 failed"
        assert f"v{newest}.metadata.json" in done and "BROKEN" not in done and "warning" not in done, done
        catalog = connect(Lake(server.uri, "default", server.warehouses["default"]))
        for name, live in expected.items():
            assert len(live) == 45
            assert sql(f"SELECT * FROM imported.{name} ORDER BY id") == live
            assert scan(catalog.load_table(name)) == live
        again = server.manage("import", "hadoop", f"file://{root}")
        assert last(again) == "imported 0 tables, 0 views, 0 namespaces; 4 already there; 0 failed"

        # As documented for the Hive metastore, of which no more is needed than the metadata file's name.
        file = catalog.load_table("sales.eu.towns").metadata_location
        sql("DROP TABLE imported.sales.eu.towns")
        sql(f"CALL imported.system.register_table(table => 'sales.eu.towns', metadata_file => '{file}')")
        assert sql("SELECT * FROM imported.sales.eu.towns ORDER BY id") == expected["sales.eu.towns"]

        # It is a table like any other from here on.
        sql("DELETE FROM imported.sales.cities WHERE id = 7")
        sql("INSERT INTO imported.sales.cities VALUES (100, 'new')")
        live = [row for row in expected["sales.cities"] if row[0] != 7] + [(100, "new")]
        assert sql("SELECT * FROM imported.sales.cities ORDER BY id") == live
        again = server.manage("import", "hadoop", f"file://{root}", "--update")
        assert last(again) == "imported 0 tables, 0 views, 0 namespaces; 4 already there; 0 failed"


def test_a_hadoop_catalog_in_a_bucket(gcs, tmp_path):
    """PyIceberg's table, with a Hadoop catalog's names: Spark has no Hadoop file system for the emulator here."""
    bucket = "gs://import-hadoop"
    Gcs(gcs).create_bucket("import-hadoop")
    with guillemot.Guillemot(tmp_path, warehouses={"lake": bucket}, gcs=gcs) as server:
        catalog = connect(Lake(server.uri, "lake", bucket, gcs))
        catalog.create_namespace("made")
        table = catalog.create_table("made.t", SCHEMA, location=f"{bucket}/old/sales/cities")
        table.append(rows(1, 2))
        table.append(rows(3))
        files, folder = Gcs(gcs), f"{bucket}/old/sales/cities/metadata"
        versions = [entry.metadata_file for entry in table.metadata.metadata_log] + [table.metadata_location]
        for number, location in enumerate(versions, 1):
            files.put(f"{folder}/v{number}.metadata.json", files.get(location))
        files.put(f"{folder}/version-hint.text", b"2")
        catalog.drop_table("made.t")
        done = server.manage("import", "hadoop", f"{bucket}/old", "--gcs-endpoint", gcs)
        assert last(done) == "imported 1 table, 0 views, 1 namespace; 0 already there; 0 failed"
        assert f"{folder}/v3.metadata.json" in done
        assert scan(catalog.load_table("sales.cities")) == [(i, f"city {i}") for i in (1, 2, 3)]
