#!/usr/bin/env python3
"""Version 3 tables from Spark on a running Guillemot: writes, deletes, updates, upgrades, and proves each step.

    examples/spark-seed/run --uri http://127.0.0.1:8181/iceberg --warehouse default

`run` finds a Python with pyspark and the Iceberg jars; without it, give --jars and use any Python that
imports pyspark 3.5. The tables live in the namespace `guillemot_seed` and are made anew each time.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

NAMESPACE = "guillemot_seed"
V3, V2 = f"lk.{NAMESPACE}.cities_v3", f"lk.{NAMESPACE}.cities_v2"
ROWS = 100_000
MERGE_ON_READ = """
    'write.delete.mode' = 'merge-on-read',
    'write.update.mode' = 'merge-on-read',
    'write.merge.mode'  = 'merge-on-read'"""


def main():
    options = arguments()
    spark = session(options)
    proofs = Proofs()
    try:
        for path in options.sql:
            run_file(spark, path)
        if not options.sql:
            version_3(spark, proofs)
            upgraded(spark, proofs)
    finally:
        spark.stop()
    return 0 if options.sql else proofs.close()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uri", default="http://127.0.0.1:8181/iceberg", help="the catalog (default: %(default)s)")
    parser.add_argument("--warehouse", default="default", help="name or location of a warehouse (default: %(default)s)")
    parser.add_argument("--io-impl", help="a FileIO class, e.g. org.apache.iceberg.gcp.gcs.GCSFileIO")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="one more catalog property")
    parser.add_argument("--jars", type=Path, help="folder of the Iceberg jars")
    parser.add_argument(
        "--sql",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="run the statements of this file instead and print their answers (may be repeated)",
    )
    return parser.parse_args()


def session(options):
    """A Spark session of two local threads with the catalog `lk`."""
    from pyspark.sql import SparkSession

    catalog = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": options.uri}
    catalog[".warehouse"] = options.warehouse
    if options.io_impl:
        catalog[".io-impl"] = options.io_impl
    for item in options.conf:
        key, _, value = item.partition("=")
        catalog[f".{key}"] = value
    builder = (
        SparkSession.builder.appName("guillemot-seed")
        .master("local[2]")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", tempfile.gettempdir())
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config("spark.sql.defaultCatalog", "lk")
    )
    if options.jars:
        # First on the class path: Google's storage client needs a newer Guava than Spark brings.
        builder = builder.config("spark.driver.extraClassPath", f"{options.jars.resolve()}/*")
    for key, value in catalog.items():
        builder = builder.config(f"spark.sql.catalog.lk{key}", value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


class Proofs:
    """Prints each claim with what was found, and counts."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def same(self, claim, found, expected):
        """The claim holds when `found` is `expected`."""
        if found == expected:
            self.passed += 1
            print(f"proved  {claim}: {found}", flush=True)
        else:
            self.failed += 1
            print(f"FAILED  {claim}: expected {expected}, found {found}", flush=True)

    def close(self):
        """Prints the sum; the exit code."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def version_3(spark, proofs):
    """Create a version 3 table, overwrite, delete a row, update a row."""
    sql(spark, f"CREATE NAMESPACE IF NOT EXISTS lk.{NAMESPACE}")
    sql(spark, f"DROP TABLE IF EXISTS {V3} PURGE")
    sql(
        spark,
        f"""CREATE TABLE {V3} (id BIGINT, city STRING, state STRING) USING iceberg
                   TBLPROPERTIES ('format-version' = '3',{MERGE_ON_READ})""",
    )
    proofs.same("the table is created as version 3", format_version(spark, V3), 3)

    sql(
        spark,
        f"""INSERT OVERWRITE {V3}
                   SELECT /*+ COALESCE(1) */ id, CAST(id AS STRING), 'WA' FROM range(1, {ROWS + 1})""",
    )
    proofs.same("INSERT OVERWRITE wrote the rows", count(spark, V3), ROWS)

    sql(spark, f"DELETE FROM {V3} WHERE id = 5000")
    proofs.same("DELETE hides the row", rows(spark, f"SELECT * FROM {V3} WHERE id = 5000"), [])
    proofs.same("DELETE hides one row only", count(spark, V3), ROWS - 1)
    proofs.same("DELETE added a deletion vector", summary(spark, V3, "added-dvs", "added-position-deletes"), ("1", "1"))

    sql(spark, f"UPDATE {V3} SET state = 'NY' WHERE id = 1")
    proofs.same("UPDATE changed the row", rows(spark, f"SELECT * FROM {V3} WHERE id = 1"), [(1, "1", "NY")])
    proofs.same("UPDATE changed no count", count(spark, V3), ROWS - 1)
    proofs.same(
        "UPDATE merged the deletion vectors into one",
        summary(spark, V3, "added-dvs", "removed-dvs", "added-position-deletes"),
        ("1", "1", "2"),
    )

    proofs.same("one live deletion vector of two rows", delete_files(spark, V3), [("PUFFIN", 2)])
    proofs.same("the .puffin files under data/", len(puffin_files(spark, V3)), 2)
    show(spark, V3)


def upgraded(spark, proofs):
    """A version 2 table with a delete, upgraded to version 3, then one more delete."""
    sql(spark, f"DROP TABLE IF EXISTS {V2} PURGE")
    sql(
        spark,
        f"""CREATE TABLE {V2} (id BIGINT, city STRING, state STRING) USING iceberg
                   TBLPROPERTIES ('format-version' = '2',{MERGE_ON_READ})""",
    )
    sql(spark, f"INSERT INTO {V2} SELECT /*+ COALESCE(1) */ id, CAST(id AS STRING), 'OR' FROM range(1, 1001)")
    sql(spark, f"DELETE FROM {V2} WHERE id = 10")
    proofs.same("version 2 deletes by a position-delete file", delete_files(spark, V2), [("PARQUET", 1)])

    sql(spark, f"ALTER TABLE {V2} SET TBLPROPERTIES ('format-version' = '3')")
    proofs.same("ALTER TABLE upgrades to version 3", format_version(spark, V2), 3)
    proofs.same("the upgrade keeps the rows", count(spark, V2), 999)

    sql(spark, f"DELETE FROM {V2} WHERE id = 20")
    gone = f"SELECT id FROM {V2} WHERE id IN (10, 20)"
    proofs.same("both deletes hold after the upgrade", (count(spark, V2), rows(spark, gone)), (998, []))
    proofs.same("version 3 deletes by a deletion vector", summary(spark, V2, "added-dvs"), ("1",))
    proofs.same("the vector replaces the position-delete file", delete_files(spark, V2), [("PUFFIN", 2)])
    proofs.same("the .puffin files under data/", len(puffin_files(spark, V2)), 1)
    show(spark, V2)


def run_file(spark, path):
    """Runs the statements of a SQL file in its order and shows their answers."""
    for statement in statements(path.read_text()):
        answer = sql(spark, statement)
        if answer.columns:
            answer.show(20, truncate=False)


def statements(text):
    """The statements of a SQL text: `--` comments dropped, split at `;` (no quoting of either is understood)."""
    lines = (line.partition("--")[0] for line in text.splitlines())
    return [s.strip() for s in "\n".join(lines).split(";") if s.strip()]


def sql(spark, statement):
    """Runs one statement and says how long it took."""
    began = time.monotonic()
    answer = spark.sql(statement)
    print(f"{time.monotonic() - began:6.1f} s  {' '.join(statement.split())}", flush=True)
    return answer


def rows(spark, query):
    """All rows of a query as tuples."""
    return [tuple(row) for row in spark.sql(query).collect()]


def count(spark, table):
    """Number of live rows."""
    return rows(spark, f"SELECT count(*) FROM {table}")[0][0]


def summary(spark, table, *keys):
    """Values of the newest snapshot's summary."""
    newest = rows(spark, f"SELECT summary FROM {table}.snapshots ORDER BY committed_at DESC LIMIT 1")[0][0]
    return tuple(newest.get(key) for key in keys)


def delete_files(spark, table):
    """Format and number of positions of each live delete file or vector."""
    return rows(spark, f"SELECT file_format, record_count FROM {table}.delete_files ORDER BY file_path")


def puffin_files(spark, table):
    """Every .puffin object that lies under the table's data folder, live or not, as its FileIO lists them."""
    loaded = java_table(spark, table)
    files = loaded.io().listPrefix(f"{loaded.location()}/data").iterator()
    found = []
    while files.hasNext():
        found.append(files.next().location())
    return [f for f in found if f.endswith(".puffin")]


def format_version(spark, table):
    """The format version that the catalog serves."""
    return java_table(spark, table).operations().current().formatVersion()


def java_table(spark, table):
    """Iceberg's own Table object, freshly loaded."""
    spark.catalog.refreshTable(table)
    return spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, table)


def show(spark, table):
    """Prints the snapshots and the deletion vectors of a table."""
    print(f"\n{table}", flush=True)
    for operation, facts in rows(spark, f"SELECT operation, summary FROM {table}.snapshots ORDER BY committed_at"):
        wanted = {k: v for k, v in sorted(facts.items()) if k.startswith(("added-", "removed-"))}
        print(f"    {operation}: {', '.join(f'{k} {v}' for k, v in wanted.items())}")
    for path in sorted(puffin_files(spark, table)):
        print(f"    {path}")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
