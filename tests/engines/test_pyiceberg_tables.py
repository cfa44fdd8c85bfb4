"""PyIceberg on tables: every write and change of its release on version 2, and on version 3 what it can do."""

import datetime
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg import exceptions
from pyiceberg.expressions import EqualTo
from pyiceberg.schema import Schema
from pyiceberg.table.statistics import BlobMetadata, StatisticsFile
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import DoubleType, IntegerType, LongType, NestedField, StringType, StructType, TimestampType
from pyiceberg_catalog import connect

NAMESPACE = "pyiceberg_tables"
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "city", StringType(), required=False),
    NestedField(3, "day", TimestampType(), required=False),
    identifier_field_ids=[1],
)
ARROW = pa.schema([pa.field("id", pa.int64(), nullable=False), ("city", pa.string()), ("day", pa.timestamp("us"))])
WRITE_V3 = "Cannot write manifest for table version: 3"


def rows(*ids, city="city"):
    return pa.table([ids, [f"{city} {i}" for i in ids], [i * 86_400_000_000 for i in ids]], schema=ARROW)


def ids(table, **scan):
    return sorted(table.scan(**scan).to_arrow()["id"].to_pylist())


@pytest.fixture
def catalog(lake):
    catalog = connect(lake)
    catalog.create_namespace_if_not_exists(NAMESPACE)
    yield catalog
    for name in catalog.list_tables(NAMESPACE):
        catalog.drop_table(name)
    catalog.drop_namespace(NAMESPACE)


@pytest.fixture
def table(catalog):
    return catalog.create_table((NAMESPACE, "t"), SCHEMA)


@pytest.fixture
def table_v3(catalog):
    return catalog.create_table((NAMESPACE, "t3"), SCHEMA, properties={"format-version": "3"})


def again(catalog, table):
    """The table as the catalog has it."""
    loaded = catalog.load_table(table.name())
    assert loaded.metadata == table.metadata
    return loaded


def test_append_overwrite_and_delete(catalog, table):
    table.append(rows(1, 2, 3))
    table.append(rows(4, 5))
    table.overwrite(rows(40), overwrite_filter=EqualTo("id", 4))
    table.delete("id in (1, 2)")
    assert ids(again(catalog, table)) == [3, 5, 40]
    table.delete("id > 0")
    assert ids(again(catalog, table)) == []
    table.append(rows(6))
    table.overwrite(rows(7))
    assert ids(again(catalog, table)) == [7]
    operations = [snapshot.summary.operation.value for snapshot in table.snapshots()]
    assert operations[:2] == ["append", "append"] and set(operations) == {"append", "overwrite", "delete"}


def test_partitions_are_overwritten_by_what_is_written(catalog, table):
    with table.update_spec() as update:
        update.add_identity("city")
    table.append(pa.concat_tables([rows(1, 2), rows(3)]))
    table.dynamic_partition_overwrite(rows(2))
    assert ids(again(catalog, table)) == [1, 2, 3]
    assert table.current_snapshot().summary.operation.value in ("append", "overwrite")


def test_upsert(catalog, table):
    table.append(rows(1, 2, 3, city="old"))
    done = table.upsert(rows(2, 3, 4, city="new"))
    assert (done.rows_updated, done.rows_inserted) == (2, 1)
    cities = {row["id"]: row["city"] for row in again(catalog, table).scan().to_arrow().to_pylist()}
    assert cities == {1: "old 1", 2: "new 2", 3: "new 3", 4: "new 4"}


def test_files_are_added_as_they_are(catalog, table):
    place = f"{table.location()}/data/added.parquet"
    with table.io.new_output(place).create() as out:
        pq.write_table(rows(8, 9), out)
    table.append(rows(1))
    table.add_files([place])
    assert ids(again(catalog, table)) == [1, 8, 9]


def test_a_transaction_is_one_commit(catalog, table):
    before = table.metadata_location
    with table.transaction() as transaction:
        transaction.append(rows(1))
        transaction.set_properties(note="x")
        with transaction.update_schema() as update:
            update.add_column("more", IntegerType())
    loaded = again(catalog, table)
    assert ids(loaded) == [1] and loaded.properties["note"] == "x" and loaded.schema().find_field("more")
    assert [entry.metadata_file for entry in loaded.metadata.metadata_log] == [before]
    with table.transaction() as transaction:
        transaction.remove_properties("note")
    assert "note" not in again(catalog, table).properties


def test_a_schema_evolves_in_every_way(catalog, table):
    table.append(rows(1))
    with table.update_schema() as update:
        update.add_column("count", IntegerType(), doc="how many")
        update.add_column("place", StructType(NestedField(10, "x", DoubleType()), NestedField(11, "y", DoubleType())))
    with table.update_schema() as update:
        update.update_column("count", LongType())
        update.rename_column("city", "town")
        update.add_column(("place", "z"), DoubleType())
    with table.update_schema() as update:
        update.move_first("town")
        update.move_after("count", "id")
    with table.update_schema(allow_incompatible_changes=True) as update:
        update.delete_column("day")
    with table.update_schema() as update:
        update.union_by_name(Schema(NestedField(1, "extra", StringType())))
    names = [field.name for field in again(catalog, table).schema().fields]
    assert names == ["town", "id", "count", "place", "extra"]
    assert table.schema().find_type("count") == LongType() and table.schema().identifier_field_ids == [1]
    assert len(table.schemas()) == 6
    assert table.scan().to_arrow().select(["town", "id", "count"]).to_pylist() == [
        {"town": "city 1", "id": 1, "count": None}
    ]


def test_a_column_that_is_partitioned_by_cannot_go(table):
    with table.update_spec() as update:
        update.add_identity("city")
    update = table.update_schema().delete_column("city")
    with pytest.raises(exceptions.ValidationError, match="Cannot find source column for partition field"):
        update.commit()


def test_a_spec_and_a_sort_order_evolve(catalog, table):
    table.append(rows(1, 2))
    with table.update_spec() as update:
        update.add_identity("city")
    table.append(rows(3, 4))
    with table.update_spec() as update:
        update.rename_field("city", "town")
        update.add_identity("id")
    table.append(rows(5))
    # This release cannot write by these without a package of its own.
    with table.update_spec() as update:
        update.remove_field("town")
        update.add_field("day", DayTransform(), "by_day")
        update.add_field("id", BucketTransform(4), "bucket")
        update.add_field("city", TruncateTransform(3), "city_start")
    with table.update_sort_order() as update:
        update.desc("city", IdentityTransform())
        update.asc("id", IdentityTransform())
    loaded = again(catalog, table)
    assert [field.name for field in loaded.spec().fields] == ["id", "by_day", "bucket", "city_start"]
    assert len(loaded.specs()) == 4 and len(loaded.sort_order().fields) == 2
    assert ids(loaded) == [1, 2, 3, 4, 5] and ids(loaded, row_filter="id = 3") == [3]
    assert {file["spec_id"] for file in loaded.inspect.files().to_pylist()} == {0, 1, 2}


def test_branches_and_tags(catalog, table):
    table.append(rows(1))
    first = table.current_snapshot().snapshot_id
    table.manage_snapshots().create_tag(first, "v1", max_ref_age_ms=86_400_000).create_branch(first, "audit").commit()
    table.append(rows(2), branch="audit")
    table.append(rows(3))
    loaded = again(catalog, table)
    assert ids(loaded) == [1, 3]
    assert ids(loaded, snapshot_id=loaded.snapshot_by_name("audit").snapshot_id) == [1, 2]
    assert ids(loaded, snapshot_id=loaded.snapshot_by_name("v1").snapshot_id) == [1]
    assert loaded.refs()["v1"].max_ref_age_ms == 86_400_000
    table.delete("id = 1", branch="audit")
    audit = table.snapshot_by_name("audit").snapshot_id
    assert ids(table, snapshot_id=audit) == [2]
    table.manage_snapshots().set_current_snapshot(ref_name="audit").commit()
    assert ids(again(catalog, table)) == [2]
    table.manage_snapshots().remove_tag("v1").remove_branch("audit").commit()
    assert set(again(catalog, table).refs()) == {"main"}
    with pytest.raises(ValueError, match="unknown snapshot"):
        table.manage_snapshots().create_tag(12345, "nowhere").commit()


def test_rollback(catalog, table):
    table.append(rows(1))
    first, then = table.current_snapshot().snapshot_id, int(time.time() * 1000)
    time.sleep(0.01)
    table.append(rows(2))
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    assert ids(again(catalog, table)) == [1]
    table.append(rows(3))
    table.manage_snapshots().rollback_to_timestamp(then + 1).commit()
    assert ids(again(catalog, table)) == [1]


def test_snapshots_expire(catalog, table):
    for i in range(4):
        table.append(rows(i))
    oldest, kept = table.snapshots()[0].snapshot_id, table.snapshots()[1].snapshot_id
    table.manage_snapshots().create_tag(kept, "keep").commit()
    table.maintenance.expire_snapshots().by_id(oldest).commit()
    assert oldest not in [snapshot.snapshot_id for snapshot in again(catalog, table).snapshots()]
    soon = datetime.datetime.now() + datetime.timedelta(minutes=1)
    table.maintenance.expire_snapshots().older_than(soon).commit()
    left = {snapshot.snapshot_id for snapshot in again(catalog, table).snapshots()}
    assert left == {kept, table.current_snapshot().snapshot_id}
    assert ids(table) == [0, 1, 2, 3]


def test_statistics_are_set_and_removed(catalog, table):
    table.append(rows(1))
    snapshot = table.current_snapshot().snapshot_id
    blob = BlobMetadata(
        **{"type": "apache-datasketches-theta-v1", "snapshot-id": snapshot, "sequence-number": 1, "fields": [1]}
    )
    statistics = StatisticsFile(
        **{
            "snapshot-id": snapshot,
            "statistics-path": f"{table.location()}/metadata/s.puffin",
            "file-size-in-bytes": 10,
            "file-footer-size-in-bytes": 5,
            "blob-metadata": [blob],
        }
    )
    with table.update_statistics() as update:
        update.set_statistics(statistics)
    assert again(catalog, table).metadata.statistics == [statistics]
    with table.update_statistics() as update:
        update.remove_statistics(snapshot)
    assert again(catalog, table).metadata.statistics == []


def test_a_table_is_upgraded_and_never_downgraded(catalog):
    table = catalog.create_table((NAMESPACE, "up"), SCHEMA, properties={"format-version": "1"})
    table.append(rows(1))
    with table.transaction() as transaction:
        transaction.upgrade_table_version(2)
    assert again(catalog, table).format_version == 2 and ids(table) == [1]
    with pytest.raises(ValueError, match="Cannot downgrade"), table.transaction() as transaction:
        transaction.upgrade_table_version(1)
    with pytest.raises(ValueError, match="Unsupported table format version: 3"), table.transaction() as transaction:
        transaction.upgrade_table_version(3)


def test_version_3_changes_all_but_rows(catalog, table_v3):
    """What this release can do with a version 3 table: everything that writes no manifest."""
    with table_v3.update_schema() as update:
        update.add_column("more", IntegerType())
    with table_v3.update_spec() as update:
        update.add_identity("city")
    with table_v3.update_sort_order() as update:
        update.asc("id", IdentityTransform())
    with table_v3.transaction() as transaction:
        transaction.set_properties(note="x")
    loaded = again(catalog, table_v3)
    assert loaded.format_version == 3 and loaded.metadata.next_row_id == 0
    assert loaded.schema().find_field("more") and len(loaded.specs()) == 2 and loaded.properties["note"] == "x"
    assert ids(loaded) == []


@pytest.mark.parametrize(
    "write",
    [
        lambda table: table.append(rows(1)),
        lambda table: table.overwrite(rows(1)),
        lambda table: table.upsert(rows(1)),
        lambda table: table.dynamic_partition_overwrite(rows(1)),
    ],
    ids=["append", "overwrite", "upsert", "dynamic-overwrite"],
)
def test_version_3_rows_are_not_written_by_this_release(catalog, table_v3, write):
    with table_v3.update_spec() as update:
        update.add_identity("city")
    with pytest.raises(ValueError, match=WRITE_V3):
        write(table_v3)
    assert catalog.load_table(table_v3.name()).current_snapshot() is None
