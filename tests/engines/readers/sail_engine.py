"""Sail: Spark's SQL without a JVM, by its own Iceberg reader and writer."""

import json
import os

import lake

os.environ["SAIL_CATALOG__LIST"] = (
    f'[{{type="iceberg-rest", name="lk", uri="{lake.URI}", warehouse="{lake.WAREHOUSE}"'
    f', bearer_access_token="{lake.TOKEN}"}}]'
)
os.environ["GOOGLE_SERVICE_ACCOUNT_KEY"] = json.dumps(
    {
        "gcs_base_url": f"http://{lake.XML}",
        "disable_oauth": True,
        "client_email": "",
        "private_key": "",
        "private_key_id": "",
    }
)

from claims import absent, counts, same, step, together
from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession

MERGE_ON_READ = ", ".join(f"'write.{what}.mode'='merge-on-read'" for what in ("delete", "update", "merge"))
server = spark = catalog = None


def connect():
    host, port = server.listening_address
    return SparkSession.builder.remote(f"sc://{host}:{port}").create()


def sql(text):
    """The rows of one statement, as tuples."""
    return [tuple(row) for row in spark.sql(text).collect()]


def create(name, version, columns="id BIGINT, city STRING"):
    sql(f"CREATE TABLE lk.sail.{name} ({columns}) {made(name, version)}")


def made(name, version):
    """Told of no place, Sail asks for `spark-warehouse/NAME`, which is none."""
    properties = f"'format-version'='{version}', {MERGE_ON_READ}"
    return f"USING iceberg LOCATION '{lake.LOCATION}/sail/{name}' TBLPROPERTIES ({properties})"


def insert(name, first, last):
    rows = ", ".join(f"({i}, '{i}')" for i in range(first, last))
    sql(f"INSERT INTO lk.sail.{name} VALUES {rows}")


def now(name, **expected):
    """A proof of the snapshot that is current now. Sail does not tell its id: PyIceberg reads that."""
    snapshot = catalog.load_table(("sail", name)).current_snapshot().snapshot_id
    return [{"table": f"sail.{name}", "snapshot": snapshot} | expected]


def config():
    global server, spark, catalog
    catalog = lake.pyiceberg()
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    spark = connect()
    same(("history",) in [row[:1] for row in sql("SHOW NAMESPACES IN lk")], True)


def created():
    create("t", 3)
    return [{"table": "sail.t", "version": 3}]


def inserted():
    insert("t", 0, 100)
    return now("t", rows=100, dvs=0)


def deleted():
    sql("DELETE FROM lk.sail.t WHERE id = 7")
    return now("t", rows=99, dvs=1)


def updated():
    sql("UPDATE lk.sail.t SET city = 'NY' WHERE id = 8")
    same(sql("SELECT city FROM lk.sail.t WHERE id = 8"), [("NY",)])
    return now("t", rows=99, dvs=1)


def merged():
    sql(
        "MERGE INTO lk.sail.t USING (SELECT id FROM range(95, 105)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET city = 'm' WHEN NOT MATCHED THEN INSERT (id, city) VALUES (s.id, 'n')"
    )
    same(sql("SELECT count(*) FROM lk.sail.t WHERE city IN ('m', 'n')"), [(10,)])
    return now("t", rows=104)


def rows(history):
    return sql(f"SELECT count(*) FROM lk.history.{history}")[0][0]


def schema():
    create("wide", 3)
    insert("wide", 0, 3)
    sql("ALTER TABLE lk.sail.wide ADD COLUMN zip INT")
    same(sql("SELECT zip FROM lk.sail.wide WHERE id = 1"), [(None,)])


def partition():
    sql("ALTER TABLE lk.sail.t ADD PARTITION FIELD bucket(2, id)")


def upgraded():
    create("old", 2)
    insert("old", 0, 20)
    sql("DELETE FROM lk.sail.old WHERE id = 3")
    sql("ALTER TABLE lk.sail.old SET TBLPROPERTIES ('format-version'='3')")
    sql("DELETE FROM lk.sail.old WHERE id = 4")
    return now("old", rows=18, dvs=1, version=3)


def time_travel():
    first = catalog.load_table(("sail", "t")).snapshots()[0].snapshot_id
    same(sql(f"SELECT count(*) FROM lk.sail.t VERSION AS OF {first}"), [(100,)])


def views():
    sql("CREATE VIEW lk.sail.v AS SELECT id FROM lk.sail.t")
    same(sql("SELECT count(*) FROM lk.sail.v"), [(104,)])
    sql("DROP VIEW lk.sail.v")


def ctas():
    sql(f"CREATE TABLE lk.sail.copied {made('copied', 3)} AS SELECT id FROM lk.sail.t")
    return now("copied", rows=104, version=3)


def dropped():
    create("gone", 3)
    sql("DROP TABLE lk.sail.gone")
    same(catalog.table_exists(("sail", "gone")), False)


def renamed():
    create("moving", 3)
    sql("ALTER TABLE lk.sail.moving RENAME TO lk.sail.moved")
    same(catalog.table_exists(("sail", "moved")), True)


def maintenance():
    sql("CALL lk.system.rewrite_data_files(table => 'sail.t')")


def transaction():
    raise NotImplementedError("Spark's SQL has no transaction over several tables")


def metadata():
    same(sql("SELECT count(*) > 0 FROM lk.sail.t.files"), [(True,)])


def concurrent():
    create("shared", 3)
    together(lambda i: connect().sql(f"INSERT INTO lk.sail.shared VALUES ({i}, 'c')").collect())
    return now("shared", rows=4)


def streaming():
    create("clock", 3, "value BIGINT")
    source = spark.readStream.format("rate").option("rowsPerSecond", 20).load().select("value")
    query = source.writeStream.format("iceberg").outputMode("append").toTable("lk.sail.clock")
    query.awaitTermination(12)
    query.stop()
    same(sql("SELECT count(*) > 0 FROM lk.sail.clock"), [(True,)])


def variant():
    create("v3", 3, "id BIGINT, v VARIANT")


def equality():
    raise NotImplementedError("Sail's SQL writes no equality deletes; it reads them")


step("config", config)
step("namespace", lambda: sql("CREATE NAMESPACE lk.sail") and None)
step("create", created)
step("insert", inserted)
step("delete", deleted)
step("update", updated)
step("merge", merged)
step("read", lambda: same(rows("seed_v3"), 99_999))
counts(rows)
absent("schema", schema)
absent("partition", partition)
absent("upgrade", upgraded)
step("refs", time_travel)
absent("refs", lambda: sql("ALTER TABLE lk.sail.t CREATE BRANCH audit"))
absent("views", views)
step("ctas", ctas)
step("names", dropped)
absent("names", renamed)
absent("maintenance", maintenance)
absent("transaction", transaction)
absent("metadata", metadata)
step("concurrent", concurrent)
absent("streaming", streaming)
absent("equality", equality)
absent("variant", variant)
os._exit(0)
