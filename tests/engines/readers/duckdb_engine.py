"""DuckDB with its Iceberg extension: a reader and writer in C++, and deletion vectors of its own."""

import lake
from claims import absent, counts, same, step, together

db = None


def sql(text):
    return db.execute(text).fetchall()


def create(name, version=3):
    sql(f"CREATE TABLE lk.duck.{name} (id BIGINT, city VARCHAR) WITH ('format-version' = '{version}')")


def insert(name, first, last):
    sql(f"INSERT INTO lk.duck.{name} SELECT i, 'city ' || i FROM range({first}, {last}) r(i)")


def now(name, **expected):
    """A proof of the snapshot that is current now, so that later steps do not blur it."""
    snapshots = sql(f"SELECT snapshot_id FROM iceberg_snapshots(lk.duck.{name}) ORDER BY sequence_number DESC")
    return [{"table": f"duck.{name}", "snapshot": snapshots[0][0]} | expected]


def config():
    global db
    db = lake.duckdb()
    same(("history",) in sql("SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'lk'"), True)


def created():
    create("t")
    return [{"table": "duck.t", "version": 3}]


def inserted():
    insert("t", 0, 100)
    return now("t", rows=100, dvs=0)


def deleted():
    sql("DELETE FROM lk.duck.t WHERE id = 7")
    return now("t", rows=99, dvs=1)


def updated():
    sql("UPDATE lk.duck.t SET city = 'NY' WHERE id = 8")
    same(sql("SELECT city FROM lk.duck.t WHERE id = 8"), [("NY",)])
    return now("t", rows=99, dvs=1)


def merged():
    sql(
        "MERGE INTO lk.duck.t USING (SELECT i AS id FROM range(95, 105) r(i)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET city = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'n')"
    )
    same(sql("SELECT count(*) FROM lk.duck.t WHERE city IN ('m', 'n')"), [(10,)])
    return now("t", rows=104)


def live(history):
    return sql(f"SELECT count(*) FROM lk.history.{history}")[0][0]


def schema():
    sql("ALTER TABLE lk.duck.t ADD COLUMN zip INTEGER")
    sql("ALTER TABLE lk.duck.t RENAME COLUMN zip TO code")
    sql("INSERT INTO lk.duck.t VALUES (5000, 'x', 98101)")
    same(sql("SELECT code FROM lk.duck.t WHERE id IN (1, 5000) ORDER BY id"), [(None,), (98101,)])
    sql("ALTER TABLE lk.duck.t DROP COLUMN code")
    return now("t", rows=105)


def partition():
    create("parted")
    insert("parted", 0, 10)
    sql("ALTER TABLE lk.duck.parted SET PARTITIONED BY (bucket(4, id))")
    insert("parted", 10, 20)
    sql("DELETE FROM lk.duck.parted WHERE id = 11")
    return now("parted", rows=19)


def upgraded():
    create("old", 2)
    insert("old", 0, 20)
    sql("DELETE FROM lk.duck.old WHERE id = 3")
    same(live_in("old"), 19)
    sql("CALL set_iceberg_table_properties(lk.duck.old, {'format-version': '3'})")
    sql("DELETE FROM lk.duck.old WHERE id = 4")
    found = sql("SELECT file_format FROM iceberg_metadata(lk.duck.old) WHERE content <> 'DATA'")
    if ("puffin",) not in found:
        raise NotImplementedError(f"the property format-version is set, the table is version 2: it deletes by {found}")
    return now("old", rows=18, dvs=1, version=3)


def live_in(name, at=""):
    return sql(f"SELECT count(*) FROM lk.duck.{name} {at}")[0][0]


def time_travel():
    first = sql("SELECT snapshot_id FROM iceberg_snapshots(lk.duck.t) ORDER BY sequence_number LIMIT 1")[0][0]
    same(live_in("t", f"AT (VERSION => {first})"), 100)


def ctas():
    sql("CREATE TABLE lk.duck.copied WITH ('format-version' = '3') AS SELECT id FROM lk.duck.t")
    return now("copied", rows=105, version=3)


def names():
    sql("CREATE TABLE lk.duck.moving (id BIGINT)")
    sql("ALTER TABLE lk.duck.moving RENAME TO moved")
    same(live_in("moved"), 0)
    sql("DROP TABLE lk.duck.moved")
    left = {name for (name,) in sql("SELECT table_name FROM duckdb_tables() WHERE database_name = 'lk'")}
    same(left & {"moving", "moved"}, set())


def transaction():
    create("left_side")
    create("right_side")
    sql("BEGIN")
    insert("left_side", 0, 1)
    insert("right_side", 0, 2)
    sql("COMMIT")
    return now("left_side", rows=1) + now("right_side", rows=2)


def metadata():
    same(len(sql("SELECT * FROM iceberg_metadata(lk.duck.t)")) > 0, True)
    same(len(sql("SELECT * FROM iceberg_snapshots(lk.duck.t)")) > 0, True)


def concurrent():
    """DuckDB leaves it to its user to try again: each writer does."""
    create("shared")

    def write(i):
        own = lake.duckdb()
        for left in range(9, -1, -1):
            try:
                own.execute(f"INSERT INTO lk.duck.shared VALUES ({i}, 'c')")
                return
            except Exception:
                if not left:
                    raise

    together(write)
    return now("shared", rows=4)


def variant():
    sql("CREATE TABLE lk.duck.v3 (id BIGINT, v VARIANT) WITH ('format-version' = '3')")
    sql("INSERT INTO lk.duck.v3 VALUES (1, 5::VARIANT)")
    same(sql("SELECT v::INTEGER FROM lk.duck.v3"), [(5,)])


step("config", config)
step("namespace", lambda: sql("CREATE SCHEMA lk.duck") and None)
step("create", created)
step("insert", inserted)
step("delete", deleted)
step("update", updated)
step("merge", merged)
step("read", lambda: same(live("seed_v3"), 99_999))
counts(live)
step("schema", schema)
step("partition", partition)
absent("upgrade", upgraded)
step("refs", time_travel)
absent("refs", lambda: sql("ALTER TABLE lk.duck.t CREATE BRANCH audit"))
absent("views", lambda: sql("CREATE VIEW lk.duck.v AS SELECT 1 AS one"))
step("ctas", ctas)
step("names", names)
absent("maintenance", lambda: sql("CALL iceberg_expire_snapshots(lk.duck.t)"))
step("transaction", transaction)
step("metadata", metadata)
step("concurrent", concurrent)
absent("streaming", lambda: sql("CREATE STREAM s"))
absent("equality", lambda: sql("INSERT OR REPLACE INTO lk.duck.t VALUES (1, 'x')"))
absent("variant", variant)
