"""The life of version 3 tables under Spark: no refusal, and no warning that is not explained here."""

import pytest
import watch

NAMESPACE = "spark_v3"
MERGE_ON_READ = ", ".join(f"'write.{what}.mode' = 'merge-on-read'" for what in ("delete", "update", "merge"))


@pytest.fixture
def table(spark, gcs_lake, request):
    """Makes tables of this test's name; sees to it that nothing was refused, and that they are in order afterwards."""
    spark.rows(f"CREATE NAMESPACE IF NOT EXISTS lk.{NAMESPACE}")
    refused, made = watch.refusals(gcs_lake), []

    def make(name, version=3, properties="", columns="id BIGINT, city STRING", clauses=""):
        made.append(name)
        properties = f"'format-version' = '{version}', {MERGE_ON_READ}{properties and ', ' + properties}"
        spark.rows(
            f"CREATE TABLE lk.{NAMESPACE}.{name} ({columns}) USING iceberg {clauses} TBLPROPERTIES ({properties})"
        )
        return f"lk.{NAMESPACE}.{name}"

    yield make
    if not getattr(request.node, "failed", False):
        assert watch.refusals(gcs_lake) == refused
        watch.verify(gcs_lake, *(f"{NAMESPACE}.{name}" for name in made))


def insert(spark, table, start, end, session="main"):
    """One data file of rows `start` to `end`, the end not included."""
    spark.rows(
        f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, concat('city ', id) FROM range({start}, {end})", session
    )


def ids(spark, table):
    """The live ids, sorted."""
    return [row[0] for row in spark.rows(f"SELECT id FROM {table} ORDER BY id")]


def call(spark, procedure, session="main", **arguments):
    """Runs one of Iceberg's procedures in the catalog; its answer by column position."""
    listed = ", ".join(f"{name} => {value}" for name, value in arguments.items())
    return spark.rows(f"CALL lk.system.{procedure}({listed})", session)


def snapshot(spark, table):
    """The id of the current snapshot of `main`."""
    return spark.value(f"SELECT snapshot_id FROM {table}.refs WHERE name = 'main'")


def test_rows_are_deleted_updated_and_merged(spark, gcs_lake, table):
    name = table("dml")
    for start in range(0, 300, 100):
        insert(spark, name, start, start + 100)
    spark.rows(f"DELETE FROM {name} WHERE id % 10 = 0")
    spark.rows(f"UPDATE {name} SET city = 'moved' WHERE id IN (1, 101, 201)")
    spark.rows(
        f"""MERGE INTO {name} t USING (SELECT id FROM range(295, 305)) s ON t.id = s.id
            WHEN MATCHED AND t.id % 2 = 0 THEN DELETE
            WHEN MATCHED THEN UPDATE SET city = 'merged'
            WHEN NOT MATCHED THEN INSERT (id, city) VALUES (s.id, 'new')"""
    )
    assert ids(spark, name) == sorted(({i for i in range(300) if i % 10} - {296, 298}) | set(range(300, 305)))
    changed = spark.rows(f"SELECT city, count(*) FROM {name} WHERE city NOT LIKE 'city %' GROUP BY city ORDER BY city")
    assert changed == [("merged", 3), ("moved", 3), ("new", 5)]
    assert watch.warnings(gcs_lake, NAMESPACE, "dml") == {}


def test_maintenance(spark, gcs_lake, table):
    name = table("maintained", properties="'commit.manifest.min-count-to-merge' = '100'")
    short = f"'{NAMESPACE}.maintained'"
    for start in range(0, 400, 100):
        insert(spark, name, start, start + 100)
    spark.rows(f"DELETE FROM {name} WHERE id < 50 OR id % 100 = 99")
    before = ids(spark, name)
    print(call(spark, "rewrite_position_delete_files", table=short, options="map('rewrite-all', 'true')"))
    print(call(spark, "rewrite_manifests", table=short))
    print(watch.warnings(gcs_lake, NAMESPACE, "maintained"))
    print(call(spark, "rewrite_data_files", table=short, options="map('delete-file-threshold', '1')"))
    spark.rows(f"DELETE FROM {name} WHERE id = 60")
    print(call(spark, "expire_snapshots", table=short, older_than="TIMESTAMP '2100-01-01 00:00:00'", retain_last=1))
    print(call(spark, "remove_orphan_files", table=short, prefix_listing="true"))
    insert(spark, name, 400, 410)
    assert ids(spark, name) == [i for i in before if i != 60] + list(range(400, 410))
    print(watch.warnings(gcs_lake, NAMESPACE, "maintained"))
    assert 0


def test_branches_and_staged_commits(spark, gcs_lake, table):
    name, short = table("audited", properties="'write.wap.enabled' = 'true'"), f"'{NAMESPACE}.audited'"
    insert(spark, name, 0, 100)
    spark.rows(f"ALTER TABLE {name} CREATE BRANCH audit")
    spark.rows("SET spark.wap.branch = audit", "branch")
    insert(spark, name, 100, 110, "branch")
    spark.rows(f"DELETE FROM {name} WHERE id < 10", "branch")
    assert ids(spark, name) == list(range(100))
    print(call(spark, "fast_forward", table=short, branch="'main'", to="'audit'"))
    assert ids(spark, name) == list(range(10, 110))

    # Staged under an id: an append that is picked after main moved on, and deletes that are published as they are.
    spark.rows("SET spark.wap.id = append", "append")
    insert(spark, name, 200, 210, "append")
    insert(spark, name, 110, 120)
    staged = spark.value(f"SELECT snapshot_id FROM {name}.snapshots WHERE summary['wap.id'] = 'append'")
    print(call(spark, "cherrypick_snapshot", table=short, snapshot_id=staged))
    assert ids(spark, name) == [*range(10, 120), *range(200, 210)]
    spark.rows("SET spark.wap.id = delete", "delete")
    spark.rows(f"DELETE FROM {name} WHERE id < 20", "delete")
    print(call(spark, "publish_changes", table=short, wap_id="'delete'"))
    published = snapshot(spark, name)
    assert ids(spark, name) == [*range(20, 120), *range(200, 210)]

    spark.rows(f"DELETE FROM {name} WHERE id < 30")
    print(call(spark, "rollback_to_snapshot", table=short, snapshot_id=published))
    spark.rows(f"DELETE FROM {name} WHERE id = 30")
    assert ids(spark, name) == [i for i in [*range(20, 120), *range(200, 210)] if i != 30]
    print(watch.warnings(gcs_lake, NAMESPACE, "audited"))
    assert 0


@pytest.mark.parametrize("granularity", ["file", "partition"])
def test_a_version_2_table_with_deletes_is_upgraded(spark, gcs_lake, table, granularity):
    name = table(f"upgraded_{granularity}", 2, f"'write.delete.granularity' = '{granularity}'")
    for start in range(0, 300, 100):
        insert(spark, name, start, start + 100)
    spark.rows(f"DELETE FROM {name} WHERE id % 100 < 5")
    spark.rows(f"ALTER TABLE {name} SET TBLPROPERTIES ('format-version' = '3')")
    spark.rows(f"DELETE FROM {name} WHERE id IN (50, 150)")
    spark.rows(f"UPDATE {name} SET city = 'moved' WHERE id = 60")
    assert ids(spark, name) == [i for i in range(300) if i % 100 >= 5 and i not in (50, 150)]
    print(spark.rows(f"SELECT file_format, record_count FROM {name}.delete_files ORDER BY 1, 2"))
    print(watch.deletes(gcs_lake, NAMESPACE, f"upgraded_{granularity}"))
    print(watch.warnings(gcs_lake, NAMESPACE, f"upgraded_{granularity}"))
    assert 0
