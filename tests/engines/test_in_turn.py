"""DuckDB, Sail and Spark write to one table in turn; each refusal is a true one, and leaves every row as it was."""

import re

import duckdb
import pytest
import watch
from duckdb_catalog import connect
from pyiceberg_catalog import connect as connect_pyiceberg
from sql_engine import EngineError

from env.gcs import Gcs

NAMESPACE, NAME = "in_turn", "shared"
TABLE = f"lk.{NAMESPACE}.{NAME}"
# Sail 0.7 takes a vector for Parquet where the format is written `puffin`, as DuckDB writes it and readers must bear.
SAIL_CANNOT_READ = "Invalid Parquet file"


class Writers:
    """The three of them, and the rows that are there if all goes well."""

    def __init__(self, spark, sail, lake, gcs):
        self.db, self.lake, self.gcs, self.expected = connect(lake), lake, Gcs(gcs), set()
        self.run = {"Spark": spark.rows, "Sail": sail.rows, "DuckDB": lambda sql: self.db.execute(sql).fetchall()}
        self.run["PyIceberg"] = lambda _: self.by_pyiceberg()
        self.story = []

    def insert(self, who, first):
        """Four rows in a data file."""
        rows = range(first, first + 4)
        self.run[who](f"INSERT INTO {TABLE} VALUES {', '.join(f'({i}, {who!r})' for i in rows)}")
        self.note(who, f"inserts {first} to {first + 3}", self.expected | set(rows))

    def delete(self, who, *ids):
        """These rows; they are in different files."""
        self.run[who](f"DELETE FROM {TABLE} WHERE id IN ({', '.join(map(str, ids))})")
        self.note(who, f"deletes {ids}", self.expected - set(ids))

    def note(self, who, what, expected):
        self.expected = expected
        self.story.append(f"{who:7}{what}: {len(expected)} rows")
        self.check()

    def by_pyiceberg(self):
        """It reads deletion vectors, and writes none."""
        scan = connect_pyiceberg(self.lake).load_table((NAMESPACE, NAME)).scan()
        return [(i,) for i in scan.to_arrow()["id"].to_pylist()]

    def check(self, *more):
        """Each reader finds what is expected."""
        for reader in ("Spark", "DuckDB", "PyIceberg", *more):
            found = [row[0] for row in self.run[reader](f"SELECT id FROM {TABLE}")]
            assert sorted(found) == sorted(self.expected), (reader, self.story)

    def is_refused(self, who, *ids):
        """A delete that breaks rules: what it read, and the files that it had written."""
        before = set(self.gcs.list(f"gs://warehouse/{NAMESPACE}/{NAME}"))
        pointer = self.lake.rest().load([NAMESPACE], NAME)["metadata-location"]
        with pytest.raises((duckdb.Error, EngineError)) as refused:
            self.run[who](f"DELETE FROM {TABLE} WHERE id IN ({', '.join(map(str, ids))})")
        assert self.lake.rest().load([NAMESPACE], NAME)["metadata-location"] == pointer
        text = str(refused.value)
        self.story.append(
            f"{who:7}deletes {ids}: refused by {sorted(set(re.findall('breaks rule ([a-z0-9-]+)', text)))}"
        )
        self.check()
        return text, sorted(set(self.gcs.list(f"gs://warehouse/{NAMESPACE}/{NAME}")) - before)


@pytest.fixture
def writers(spark, sail, gcs_lake, gcs):
    spark.rows(f"CREATE NAMESPACE lk.{NAMESPACE}")
    spark.rows(
        f"""CREATE TABLE {TABLE} (id BIGINT, writer STRING) USING iceberg
            TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')"""
    )
    return Writers(spark, sail, gcs_lake, gcs)


def test_three_engines_write_to_one_table(writers, gcs_lake, capsys):
    w = writers
    for who, first in (("Sail", 1), ("Spark", 11), ("DuckDB", 21)):
        w.insert(who, first)
    w.delete("Sail", 1, 11, 21)
    w.delete("Spark", 2, 12, 22)  # one Puffin file with the vectors of all three data files
    w.check("Sail")
    loses_vectors(w)

    # Vectors of DuckDB's own, on files that have none yet.
    for who, first in (("Spark", 31), ("DuckDB", 41)):
        w.insert(who, first)
    w.delete("DuckDB", 31, 41)
    w.delete("DuckDB", 42)
    with pytest.raises(EngineError, match=SAIL_CANNOT_READ):
        w.run["Sail"](f"SELECT id FROM {TABLE}")
    w.insert("Sail", 51)
    with pytest.raises(EngineError, match=SAIL_CANNOT_READ):
        w.delete("Sail", 51)
    w.check()
    w.delete("Spark", 3, 32, 43)  # merges DuckDB's vectors into its own, and Sail reads the table again
    w.check("Sail")
    w.delete("Sail", 4, 33, 52)
    w.check("Sail")

    with capsys.disabled():
        print("\n" + "\n".join(w.story))
    warned = watch.warnings(gcs_lake, NAMESPACE, NAME)
    # Both are DuckDB 1.5's, true, and harm no reader: it gives delete manifests row ids, and entries that it carries
    # into a new manifest lose the id of their snapshot.
    assert warned.keys() == {"delete-manifest-first-row-id", "entry-snapshot-id"}, warned
    watch.verify(gcs_lake, f"{NAMESPACE}.{NAME}")


def loses_vectors(w):
    """DuckDB deletes one row, and drops the vectors of two other data files that lie in the same Puffin file."""
    text, left = w.is_refused("DuckDB", 3)
    lost = set(re.findall(r"Expected a live vector for (\S+),", text))
    assert "breaks rule dv-lost" in text and lost
    # It is in the files: their entries are DELETED, and no manifest that the commit wrote has others.
    manifests = [watch.inspect(w.lake, file) for file in left if file.endswith("-m0.avro")]
    entries = [entry for manifest in manifests for entry in re.split(r"\nentry ", manifest)[1:]]
    for data_file in lost:
        of_file = [entry for entry in entries if f"deletes rows of {data_file}" in entry]
        assert of_file and all(": deleted, a deletion vector of 2 positions" in entry for entry in of_file), entries
