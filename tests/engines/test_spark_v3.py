"""The life of version 3 tables under Spark: no refusal, and no warning that is not explained here."""

import pytest
import watch

NAMESPACE = "spark_v3"
KINDS = ("manifest-list", "manifest", "puffin")
MERGE_ON_READ = ", ".join(f"'write.{what}.mode' = 'merge-on-read'" for what in ("delete", "update", "merge"))


@pytest.fixture
def table(spark, gcs_lake):
    """Makes tables; nothing is refused meanwhile, and they are in order afterwards."""
    spark.rows(f"CREATE NAMESPACE IF NOT EXISTS lk.{NAMESPACE}")
    refused, made = watch.refusals(gcs_lake), []

    def make(name, version=3, properties="", partitioned=""):
        made.append(name)
        properties = f"'format-version' = '{version}', {MERGE_ON_READ}{properties and ', ' + properties}"
        spark.rows(
            f"""CREATE TABLE lk.{NAMESPACE}.{name} (id BIGINT, city STRING) USING iceberg
                {partitioned and f"PARTITIONED BY ({partitioned})"} TBLPROPERTIES ({properties})"""
        )
        return f"lk.{NAMESPACE}.{name}"

    yield make
    assert watch.refusals(gcs_lake) == refused
    watch.verify(gcs_lake, *(f"{NAMESPACE}.{name}" for name in made))


def insert(spark, table, start, end, session="main"):
    """Rows `start` to `end`, the end not included: one data file of each partition."""
    spark.rows(
        f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, concat('city ', id) FROM range({start}, {end})", session
    )


def ids(spark, table):
    """The live ids, sorted."""
    return [row[0] for row in spark.rows(f"SELECT id FROM {table} ORDER BY id")]


def call(spark, procedure, **arguments):
    """Runs one of Iceberg's procedures; its answer."""
    listed = ", ".join(f"{name} => {value}" for name, value in arguments.items())
    (answer,) = spark.rows(f"CALL lk.system.{procedure}({listed})")
    return answer


def snapshot(spark, table, where):
    """The id of a snapshot."""
    return spark.value(f"SELECT snapshot_id FROM {table}.snapshots WHERE {where}")


def row_ids(spark, table):
    """Each live row's lineage id."""
    return dict(spark.rows(f"SELECT id, _row_id FROM {table}"))


@pytest.mark.parametrize("partitioned", ["", "bucket(4, id)"], ids=["plain", "partitioned"])
def test_rows_are_deleted_updated_and_merged(spark, gcs_lake, table, partitioned):
    short = "dml_partitioned" if partitioned else "dml"
    name = table(short, partitioned=partitioned)
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
    assert watch.warnings(gcs_lake, NAMESPACE, short) == {}


def test_maintenance(spark, gcs_lake, table):
    name, short = table("maintained"), f"'{NAMESPACE}.maintained'"
    for start in range(0, 400, 100):
        insert(spark, name, start, start + 100)
    spark.rows(f"DELETE FROM {name} WHERE id < 50 OR id % 100 = 99")
    kept = ids(spark, name)

    # There is nothing for it to do: vectors are rewritten by each delete.
    assert call(spark, "rewrite_position_delete_files", table=short, options="map('rewrite-all', 'true')")[0] == 0
    lineage = row_ids(spark, name)
    assert call(spark, "rewrite_manifests", table=short) == (4, 1)
    # True, and known of Iceberg 1.10: files that are carried into the new manifest lose their row ids, so that each row
    # has another one now. What the rule warns of can be seen:
    warned = watch.warnings(gcs_lake, NAMESPACE, "maintained")
    assert {rule: len(found) for rule, found in warned.items()} == {"existing-file-first-row-id": 4}
    renumbered = row_ids(spark, name)
    assert renumbered.keys() == lineage.keys() and not set(renumbered.items()) & set(lineage.items())

    rewritten = call(spark, "rewrite_data_files", table=short, options="map('delete-file-threshold', '1')")
    assert rewritten[:2] == (4, 1) and spark.value(f"SELECT count(*) FROM {name}.delete_files") == 0
    assert row_ids(spark, name) == renumbered
    spark.rows(f"DELETE FROM {name} WHERE id = 60")
    call(spark, "expire_snapshots", table=short, older_than="TIMESTAMP '2100-01-01 00:00:00'", retain_last=1)
    assert spark.value(f"SELECT count(*) FROM {name}.snapshots") == 1
    # It lists files younger than three days as none, but loads and walks the table as always.
    assert spark.rows(f"CALL lk.system.remove_orphan_files(table => {short}, prefix_listing => true)") == []
    insert(spark, name, 400, 410)
    assert ids(spark, name) == [i for i in kept if i != 60] + list(range(400, 410))
    assert watch.warnings(gcs_lake, NAMESPACE, "maintained") == warned


def test_branches_and_staged_commits(spark, gcs_lake, table):
    name, short = table("audited", properties="'write.wap.enabled' = 'true'"), f"'{NAMESPACE}.audited'"
    insert(spark, name, 0, 100)
    spark.rows(f"ALTER TABLE {name} CREATE BRANCH audit")
    spark.rows("SET spark.wap.branch = audit", "branch")
    insert(spark, name, 100, 110, "branch")
    spark.rows(f"DELETE FROM {name} WHERE id < 10", "branch")
    assert ids(spark, name) == list(range(100))
    call(spark, "fast_forward", table=short, branch="'main'", to="'audit'")
    assert ids(spark, name) == list(range(10, 110))

    # Staged under an id: an append that is picked after main moved on, and deletes that are published as they are.
    spark.rows("SET spark.wap.id = append", "append")
    insert(spark, name, 200, 210, "append")
    insert(spark, name, 110, 120)
    call(spark, "cherrypick_snapshot", table=short, snapshot_id=snapshot(spark, name, "summary['wap.id'] = 'append'"))
    assert ids(spark, name) == [*range(10, 120), *range(200, 210)]
    spark.rows("SET spark.wap.id = delete", "delete")
    spark.rows(f"DELETE FROM {name} WHERE id < 20", "delete")
    _, published = call(spark, "publish_changes", table=short, wap_id="'delete'")
    rows = [*range(20, 120), *range(200, 210)]
    assert ids(spark, name) == rows

    spark.rows(f"DELETE FROM {name} WHERE id < 30")
    call(spark, "rollback_to_snapshot", table=short, snapshot_id=published)
    spark.rows(f"DELETE FROM {name} WHERE id = 30")
    assert ids(spark, name) == [i for i in rows if i != 30]
    assert watch.warnings(gcs_lake, NAMESPACE, "audited") == {}


@pytest.mark.parametrize("granularity", ["file", "partition"])
def test_a_version_2_table_with_deletes_is_upgraded(spark, gcs_lake, table, granularity):
    short = f"upgraded_{granularity}"
    name = table(short, 2, f"'write.delete.granularity' = '{granularity}'")
    for start in range(0, 300, 100):
        insert(spark, name, start, start + 100)
    spark.rows(f"DELETE FROM {name} WHERE id % 100 < 5")
    spark.rows(f"ALTER TABLE {name} SET TBLPROPERTIES ('format-version' = '3')")
    spark.rows(f"DELETE FROM {name} WHERE id IN (50, 150)")
    spark.rows(f"UPDATE {name} SET city = 'moved' WHERE id = 60")
    assert ids(spark, name) == [i for i in range(300) if i % 100 >= 5 and i not in (50, 150)]
    assert watch.warnings(gcs_lake, NAMESPACE, short) == {}

    # The vectors took over the old deletes of their files; that of the third file is left.
    burden = watch.deletes(gcs_lake, NAMESPACE, short)
    assert burden["complete"] and burden["counts"]["position-delete-files"] == 1
    assert [(file["records"], file["deleted-rows"]) for file in burden["files"]] == [(100, 7), (100, 6)]
    assert burden["counts"]["position-delete-files-of-one-file"] == (1 if granularity == "file" else 0)

    # Maintenance makes a vector of that one too.
    live = ids(spark, name)
    rewritten = call(
        spark, "rewrite_position_delete_files", table=f"'{NAMESPACE}.{short}'", options="map('rewrite-all', 'true')"
    )
    assert rewritten[:2] == (3, 3)
    counts = watch.deletes(gcs_lake, NAMESPACE, short)["counts"]
    assert (counts["position-delete-files"], counts["deletion-vectors"], counts["puffin-files"]) == (0, 3, 1)
    assert ids(spark, name) == live
    assert watch.warnings(gcs_lake, NAMESPACE, short) == {}


def test_what_validation_costs_is_measured(spark, gcs_lake, table):
    name = table("measured")
    before = watch.metrics(gcs_lake)
    insert(spark, name, 0, 10)
    insert(spark, name, 10, 20)
    spark.rows(f"DELETE FROM {name} WHERE id = 1")
    spark.rows(f"DELETE FROM {name} WHERE id = 2")
    after = watch.metrics(gcs_lake)
    more = {series: value - before.get(series, 0) for series, value in after.items()}
    # Each commit: its list and its manifests; two vectors, and the first once more when the second replaces it.
    opened = {kind: more[f'guillemot_validation_files_read_total{{kind="{kind}"}}'] for kind in KINDS}
    assert opened["manifest-list"] == 4 and opened["manifest"] >= 4 and opened["puffin"] == 3, opened
    assert more["guillemot_commits_total"] == 4
    assert more['guillemot_validation_duration_seconds_count{action="commit"}'] == 4
    assert more['guillemot_validation_duration_seconds_sum{action="commit"}'] > 0
    assert more["guillemot_validation_read_bytes_total"] > 4000
    assert more["guillemot_validation_cache_hits_total"] > 0
    assert not any(count for series, count in more.items() if "refusals" in series)
