"""Spark with Iceberg's runtime: every step of the matrix, in SQL."""

import datetime
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from claims import absent, counts, same, step, together
from pyspark.sql import SparkSession

URI, LOCATION = os.environ["CATALOG_URI"], os.environ["WAREHOUSE_LOCATION"]
MERGE_ON_READ = ", ".join(f"'write.{what}.mode'='merge-on-read'" for what in ("delete", "update", "merge"))
spark = None


def sql(text):
    """The rows of one statement, as tuples."""
    return [tuple(row) for row in spark.sql(text).collect()]


def create(name, version, columns="id BIGINT, city STRING"):
    properties = f"'format-version'='{version}', {MERGE_ON_READ}"
    sql(f"CREATE TABLE lk.spark.{name} ({columns}) USING iceberg TBLPROPERTIES ({properties})")


def insert(name, first, last):
    rows = f"SELECT /*+ COALESCE(1) */ id, CAST(id AS STRING) FROM range({first}, {last})"
    sql(f"INSERT INTO lk.spark.{name} (id, city) {rows}")


def now(name, **expected):
    """A proof of the snapshot that is current now, so that later steps do not blur it."""
    snapshot = sql(f"SELECT snapshot_id FROM lk.spark.{name}.refs WHERE name = 'main'")[0][0]
    return [{"table": f"spark.{name}", "snapshot": snapshot} | expected]


def config():
    global spark
    settings = {
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.warehouse.dir": tempfile.gettempdir(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.extraClassPath": f"{os.environ['SPARK_JARS']}/*",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lk": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lk.type": "rest",
        # As Google's page on BigLake has it, but for the host. The login is GOOGLE_APPLICATION_CREDENTIALS.
        "spark.sql.catalog.lk.uri": f"{URI}/v1/restcatalog",
        "spark.sql.catalog.lk.warehouse": LOCATION,
        "spark.sql.catalog.lk.header.x-goog-user-project": "demo-project",
        "spark.sql.catalog.lk.rest.auth.type": "org.apache.iceberg.gcp.auth.GoogleAuthManager",
        "spark.sql.catalog.lk.io-impl": "org.apache.iceberg.gcp.gcs.GCSFileIO",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    sql("SHOW NAMESPACES IN lk")


def create_v3():
    create("t", 3)
    return [{"table": "spark.t", "version": 3}]


def inserted():
    insert("t", 0, 1000)
    return now("t", rows=1000, dvs=0)


def deleted():
    sql("DELETE FROM lk.spark.t WHERE id = 7")
    return now("t", rows=999, dvs=1)


def updated():
    sql("UPDATE lk.spark.t SET city = 'NY' WHERE id = 8")
    same(sql("SELECT city FROM lk.spark.t WHERE id = 8"), [("NY",)])
    return now("t", rows=999, dvs=1)


def merged():
    sql(
        "MERGE INTO lk.spark.t USING (SELECT id FROM range(990, 1010)) s ON t.id = s.id "
        "WHEN MATCHED AND s.id = 991 THEN DELETE WHEN MATCHED THEN UPDATE SET city = 'm' "
        "WHEN NOT MATCHED THEN INSERT (id, city) VALUES (s.id, 'n')"
    )
    return now("t", rows=1008, dvs=1)


def schema():
    sql("ALTER TABLE lk.spark.t ADD COLUMN zip INT")
    sql("ALTER TABLE lk.spark.t ALTER COLUMN zip TYPE BIGINT")
    sql("ALTER TABLE lk.spark.t RENAME COLUMN zip TO code")
    sql("INSERT INTO lk.spark.t VALUES (5000, 'x', 98101)")
    same(sql("SELECT code FROM lk.spark.t WHERE id IN (1, 5000) ORDER BY id"), [(None,), (98101,)])
    sql("ALTER TABLE lk.spark.t DROP COLUMN code")
    return now("t", rows=1009)


def partition():
    sql("ALTER TABLE lk.spark.t ADD PARTITION FIELD bucket(2, id)")
    insert("t", 6000, 6010)
    sql("DELETE FROM lk.spark.t WHERE id = 6001")
    return now("t", rows=1018)


def upgrade():
    create("old", 2)
    insert("old", 0, 20)
    sql("DELETE FROM lk.spark.old WHERE id = 3")
    sql("ALTER TABLE lk.spark.old SET TBLPROPERTIES ('format-version'='3')")
    sql("DELETE FROM lk.spark.old WHERE id = 4")
    return now("old", rows=18, dvs=1, version=3)


def refs():
    first = sql("SELECT snapshot_id FROM lk.spark.t.snapshots ORDER BY committed_at LIMIT 1")[0][0]
    same(sql(f"SELECT count(*) FROM lk.spark.t VERSION AS OF {first}"), [(1000,)])
    sql(f"ALTER TABLE lk.spark.t CREATE TAG first AS OF VERSION {first}")
    sql("ALTER TABLE lk.spark.t CREATE BRANCH audit")
    sql("INSERT INTO lk.spark.t.branch_audit VALUES (9000, 'b')")
    same(sql("SELECT count(*) FROM lk.spark.t VERSION AS OF 'audit'"), [(1019,)])
    same(sql("SELECT count(*) FROM lk.spark.t VERSION AS OF 'first'"), [(1000,)])
    sql("CALL lk.system.fast_forward('spark.t', 'main', 'audit')")
    return now("t", rows=1019)


def views():
    sql("CREATE VIEW lk.spark.v AS SELECT id FROM lk.spark.t")
    same(sql("SELECT count(*) FROM lk.spark.v"), [(1019,)])
    sql("CREATE OR REPLACE VIEW lk.spark.v AS SELECT id FROM lk.spark.t WHERE id < 10")
    same(sql("SELECT count(*) FROM lk.spark.v"), [(9,)])
    sql("DROP VIEW lk.spark.v")


def ctas():
    made = "USING iceberg TBLPROPERTIES ('format-version'='3') AS SELECT id FROM lk.spark.t"
    sql(f"CREATE TABLE lk.spark.copied {made}")
    found = now("copied", rows=1019, version=3)
    sql(f"CREATE OR REPLACE TABLE lk.spark.copied {made} WHERE id < 10")
    return found + now("copied", rows=9)


def names():
    sql("CREATE TABLE lk.spark.moving (id BIGINT) USING iceberg")
    # Without the catalog: Iceberg's REST client takes `lk` for a part of the namespace.
    sql("ALTER TABLE lk.spark.moving RENAME TO spark.moved")
    same(sql("SELECT count(*) FROM lk.spark.moved"), [(0,)])
    sql("DROP TABLE lk.spark.moved")
    sql("CREATE TABLE lk.spark.purged (id BIGINT) USING iceberg")
    sql("DROP TABLE lk.spark.purged PURGE")
    left = {name for _, name, _ in sql("SHOW TABLES IN lk.spark")}
    same(left & {"moving", "moved", "purged"}, set())


def maintenance():
    create("worn", 3)
    insert("worn", 0, 50)
    insert("worn", 50, 100)
    sql("DELETE FROM lk.spark.worn WHERE id = 60")
    sql("CALL lk.system.rewrite_data_files(table => 'spark.worn', options => map('rewrite-all', 'true'))")
    sql("CALL lk.system.rewrite_manifests('spark.worn')")
    sql("CALL lk.system.rewrite_position_delete_files('spark.worn')")
    sql(f"CALL lk.system.expire_snapshots('spark.worn', TIMESTAMP '{datetime.datetime.now()}', 1)")
    sql("CALL lk.system.remove_orphan_files(table => 'spark.worn', dry_run => true, prefix_listing => true)")
    same(sql("SELECT count(*) FROM lk.spark.worn.snapshots"), [(1,)])
    return now("worn", rows=99)


def transaction():
    raise NotImplementedError("Spark's SQL has no transaction over several tables")


def metadata():
    for name in ("files", "snapshots", "manifests", "history", "partitions", "entries", "delete_files", "refs"):
        same(sql(f"SELECT count(*) > 0 FROM lk.spark.t.{name}"), [(True,)])


def concurrent():
    create("shared", 3)
    together(lambda i: sql(f"INSERT INTO lk.spark.shared VALUES ({i}, 'c')"))
    return now("shared", rows=4)


def streaming():
    create("clock", 3, "timestamp TIMESTAMP, value BIGINT")
    source = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
    with tempfile.TemporaryDirectory() as checkpoint:
        sink = source.writeStream.format("iceberg").outputMode("append").option("checkpointLocation", checkpoint)
        query = sink.trigger(processingTime="2 seconds").toTable("lk.spark.clock")
        query.awaitTermination(12)
        query.stop()
    same(sql("SELECT count(*) > 0 FROM lk.spark.clock"), [(True,)])
    return now("clock", rows=sql("SELECT count(*) FROM lk.spark.clock")[0][0])


def equality():
    raise NotImplementedError("Spark's SQL writes no equality deletes; it reads them")


def variant():
    create("v3", 3, "id BIGINT, v VARIANT")
    sql("""INSERT INTO lk.spark.v3 SELECT 1, parse_json('{"a": 5}')""")
    same(sql("SELECT variant_get(v, '$.a', 'int') FROM lk.spark.v3"), [(5,)])


step("config", config)
step("namespace", lambda: sql("CREATE NAMESPACE lk.spark") and None)
step("create", create_v3)
step("insert", inserted)
step("delete", deleted)
step("update", updated)
step("merge", merged)
step("read", lambda: same(sql("SELECT id FROM lk.history.seed_v3 WHERE id = 5000"), []))
counts(lambda history: sql(f"SELECT count(*) FROM lk.history.{history}")[0][0])
step("schema", schema)
step("partition", partition)
step("upgrade", upgrade)
step("refs", refs)
step("views", views)
step("ctas", ctas)
step("names", names)
step("maintenance", maintenance)
absent("transaction", transaction)
step("metadata", metadata)
step("concurrent", concurrent)
step("streaming", streaming)
absent("equality", equality)
absent("variant", variant)
spark.stop()
