"""Two Spark sessions delete from one data file at the same time: one vector is left, and no deleted row comes back."""

import re

import pytest
import watch
from sql_engine import EngineError

NAMESPACE = "spark_race"
ROUNDS = 4
# What the loser of a race reads: from Iceberg's own check, from the catalog's, or from the rule behind both.
LOST = re.compile(r"concurrently added DV|CommitFailedException|breaks rule two-dvs|breaks rule dv-loses-positions")


@pytest.mark.parametrize("isolation", ["snapshot", "serializable"])
def test_racing_deletes_leave_one_vector(spark, gcs_lake, isolation, capsys):
    table = f"lk.{NAMESPACE}.{isolation}"
    spark.rows(f"CREATE NAMESPACE IF NOT EXISTS lk.{NAMESPACE}")
    spark.rows(
        f"""CREATE TABLE {table} (id BIGINT) USING iceberg TBLPROPERTIES ('format-version' = '3',
            'write.delete.mode' = 'merge-on-read', 'write.delete.isolation-level' = '{isolation}')"""
    )
    spark.rows(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id FROM range(100)")
    expected, lost = set(range(100)), []
    for number in range(ROUNDS):
        # Rows of the one file, not the same ones.
        wanted = {"one": {number, 10 + number}, "other": {20 + number, 30 + number}}
        statements = {who: f"DELETE FROM {table} WHERE id IN {tuple(sorted(ids))}" for who, ids in wanted.items()}
        racing = {who: spark.start(statement, who) for who, statement in statements.items()}
        losers = [who for who, answer in racing.items() if answer.exception(timeout=300)]
        assert len(losers) < 2
        for who in losers:
            why = racing[who].exception()
            assert isinstance(why, EngineError) and LOST.search(str(why)), why
            lost.append(LOST.search(str(why)).group())
            assert live(spark, table) == expected - wanted[({"one", "other"} - {who}).pop()]
            spark.rows(statements[who], who)  # as its user would: again
        expected -= wanted["one"] | wanted["other"]
        assert live(spark, table) == expected
        vectors = spark.rows(f"SELECT file_format, record_count FROM {table}.delete_files")
        assert vectors == [("PUFFIN", 100 - len(expected))]
    assert lost, "the deletes never met"
    with capsys.disabled():
        print(f"\n{isolation}: {len(lost)} of {ROUNDS} races lost: {sorted(set(lost))}")
    assert watch.warnings(gcs_lake, NAMESPACE, isolation) == {}
    watch.verify(gcs_lake, f"{NAMESPACE}.{isolation}")


def live(spark, table):
    return {row[0] for row in spark.rows(f"SELECT id FROM {table}")}
