"""DuckDB 1.5.5: version 2 and 3 tables, a transaction over two tables, and the delete that loses deletion vectors."""

import duckdb
import pytest
import watch
from duckdb_catalog import connect

from env import fixtures
from env.gcs import Gcs
from env.rest import Refused


@pytest.fixture
def db(lake):
    connection = connect(lake)
    connection.execute("CREATE SCHEMA IF NOT EXISTS lk.duckdb_test")
    yield connection
    tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'lk' AND schema_name = 'duckdb_test'"
    for (name,) in connection.execute(tables).fetchall():
        connection.execute(f"DROP TABLE lk.duckdb_test.{name}")
    connection.execute("DROP SCHEMA lk.duckdb_test")
    connection.close()


@pytest.mark.parametrize("version", [2, 3])
def test_a_table_is_written_and_read(db, lake, version):
    table = f"lk.duckdb_test.v{version}"
    db.execute(f"CREATE TABLE {table} (id BIGINT, city VARCHAR) WITH ('format-version' = '{version}')")
    db.execute(f"INSERT INTO {table} SELECT i, 'city ' || i FROM range(100) r(i)")
    db.execute(f"DELETE FROM {table} WHERE id = 3")
    db.execute(f"UPDATE {table} SET city = 'moved' WHERE id = 4")
    assert db.execute(f"SELECT count(*), sum(id) FROM {table}").fetchall() == [(99, 4947)]
    assert db.execute(f"SELECT city FROM {table} WHERE id = 4").fetchall() == [("moved",)]

    metadata = lake.rest().load(["duckdb_test"], f"v{version}")["metadata"]
    assert metadata["format-version"] == version
    # DuckDB's UPDATE is one commit that deletes and inserts.
    assert len(metadata["snapshots"]) == 3


def test_a_merge_that_updates_and_inserts_is_taken(db, lake):
    """Two snapshots in one commit; the second's first-row-id skips as many ids as the first's vector has positions."""
    table = "lk.duckdb_test.merged"
    db.execute(f"CREATE TABLE {table} (id BIGINT, city VARCHAR) WITH ('format-version' = '3')")
    db.execute(f"INSERT INTO {table} SELECT i, 'city ' || i FROM range(100) r(i)")
    db.execute(f"DELETE FROM {table} WHERE id = 3")
    db.execute(
        f"MERGE INTO {table} t USING (SELECT i AS id FROM range(95, 105) r(i)) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET city = 'm' WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'n')"
    )
    assert connect(lake).execute(f"SELECT count(*), count(DISTINCT id) FROM {table}").fetchall() == [(104, 104)]
    assert len(lake.rest().load(["duckdb_test"], "merged")["metadata"]["snapshots"]) == 4
    if lake.gcs:
        watch.verify(lake, "duckdb_test.merged")


def test_a_transaction_over_two_tables_is_one_commit(db):
    for name in ("left_side", "right_side"):
        db.execute(f"CREATE TABLE lk.duckdb_test.{name} (id BIGINT) WITH ('format-version' = '3')")
    db.execute("BEGIN")
    db.execute("INSERT INTO lk.duckdb_test.left_side VALUES (1)")
    db.execute("INSERT INTO lk.duckdb_test.right_side VALUES (1), (2)")
    db.execute("COMMIT")
    both = "SELECT (SELECT count(*) FROM lk.duckdb_test.left_side), (SELECT count(*) FROM lk.duckdb_test.right_side)"
    assert db.execute(both).fetchall() == [(1, 2)]


def test_a_delete_that_loses_the_vectors_of_a_shared_puffin_is_refused(gcs_lake, gcs, capsys):
    """Spark put the vectors of five data files into one Puffin; DuckDB's DELETE on one of them drops the others."""
    table, rest = fixtures.table("t02b_manyfiles"), gcs_lake.rest()
    table.upload(Gcs(gcs))
    rest.ensure_namespace(table.namespace)
    rest.register(table.namespace, table.name, table.current)
    name = f"lk.{'.'.join(table.namespace)}.{table.name}"
    try:
        db = connect(gcs_lake)
        before = db.execute(f"SELECT count(*) FROM {name}").fetchone()
        victim = db.execute(f"SELECT min(id) FROM {name}").fetchone()[0]
        with pytest.raises(duckdb.Error, match="dv-lost") as refused:
            db.execute(f"DELETE FROM {name} WHERE id = {victim}")
        with capsys.disabled():
            print(f"\nDuckDB's user reads:\n{refused.value}")
        assert rest.load(table.namespace, table.name)["metadata-location"] == table.current
        assert connect(gcs_lake).execute(f"SELECT count(*) FROM {name}").fetchone() == before
    finally:
        rest.drop(table.namespace, table.name)


def test_a_drop_is_seen(db, lake):
    db.execute("CREATE TABLE lk.duckdb_test.short_lived (id BIGINT)")
    db.execute("DROP TABLE lk.duckdb_test.short_lived")
    with pytest.raises(Refused) as refused:
        lake.rest().load(["duckdb_test"], "short_lived")
    assert refused.value.status == 404
