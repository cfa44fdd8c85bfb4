"""Tables of commits that the server checked have the same rows in every engine."""

import pytest
import watch
from duckdb_catalog import connect as connect_duckdb
from pyiceberg_catalog import connect as connect_pyiceberg

NAMESPACE = "same_rows"
# Name, format version, further properties, columns to partition by, whether it is upgraded after its first deletes.
TABLES = [
    ("v2_by_file", 2, "'write.delete.granularity' = 'file'", "", False),
    ("v2_by_partition", 2, "'write.delete.granularity' = 'partition'", "bucket(2, id)", False),
    ("v3", 3, "", "", False),
    ("v3_partitioned", 3, "", "bucket(2, id)", False),
    ("upgraded_by_file", 2, "'write.delete.granularity' = 'file'", "", True),
    ("upgraded_by_partition", 2, "'write.delete.granularity' = 'partition'", "", True),
]


@pytest.fixture(scope="module")
def tables(spark):
    spark.rows(f"CREATE NAMESPACE lk.{NAMESPACE}")
    for name, version, properties, partitioned, upgraded in TABLES:
        table = f"lk.{NAMESPACE}.{name}"
        modes = ", ".join(f"'write.{what}.mode' = 'merge-on-read'" for what in ("delete", "update"))
        spark.rows(
            f"""CREATE TABLE {table} (id BIGINT, city STRING) USING iceberg
                {partitioned and f"PARTITIONED BY ({partitioned})"}
                TBLPROPERTIES ('format-version' = '{version}', {modes}{properties and ", " + properties})"""
        )
        for start in (0, 100, 200):
            rows = f"SELECT /*+ COALESCE(1) */ id, concat('city ', id) FROM range({start}, {start + 100})"
            spark.rows(f"INSERT INTO {table} {rows}")
        spark.rows(f"DELETE FROM {table} WHERE id % 100 < 5")
        if upgraded:
            spark.rows(f"ALTER TABLE {table} SET TBLPROPERTIES ('format-version' = '3')")
        spark.rows(f"DELETE FROM {table} WHERE id IN (50, 150)")
        spark.rows(f"UPDATE {table} SET city = 'moved' WHERE id = 60")
    return [name for name, *_ in TABLES]


def test_every_engine_reads_the_same_rows(tables, spark, sail, gcs_lake, capsys):
    expected = [(i, "moved" if i == 60 else f"city {i}") for i in range(300) if i % 100 >= 5 and i not in (50, 150)]
    duckdb, pyiceberg = connect_duckdb(gcs_lake), connect_pyiceberg(gcs_lake)

    def by_pyiceberg(name):
        columns = pyiceberg.load_table((NAMESPACE, name)).scan().to_arrow().to_pydict()
        return list(zip(columns["id"], columns["city"], strict=True))

    readers = {
        "Spark": lambda name: spark.rows(f"SELECT * FROM lk.{NAMESPACE}.{name}"),
        "Sail": lambda name: sail.rows(f"SELECT * FROM lk.{NAMESPACE}.{name}"),
        "DuckDB": lambda name: duckdb.execute(f"SELECT * FROM lk.{NAMESPACE}.{name}").fetchall(),
        "PyIceberg": by_pyiceberg,
    }
    found = {name: {engine: sorted(read(name)) for engine, read in readers.items()} for name in tables}
    with capsys.disabled():
        print(f"\n{'rows':24}" + "".join(f"{engine:>11}" for engine in readers))
        for name, by in found.items():
            print(f"{name:24}" + "".join(f"{len(rows):>11}" for rows in by.values()))
    for name, by in found.items():
        for engine, rows in by.items():
            assert rows == expected, f"{engine} reads {name} otherwise"
        assert watch.warnings(gcs_lake, NAMESPACE, name) == {}
    watch.verify(gcs_lake, *(f"{NAMESPACE}.{name}" for name in tables))
