"""PyIceberg: namespaces, version 2 tables from creation to drop, and what its release does with version 3."""

import pyarrow as pa
import pytest
from pyiceberg import exceptions
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
from pyiceberg_catalog import connect

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "city", StringType(), required=False),
)
NAMESPACE = "pyiceberg_test"


def rows(*ids):
    return pa.table({"id": pa.array(ids, pa.int64()), "city": [f"city {i}" for i in ids]})


def ids(table):
    return sorted(table.scan().to_arrow()["id"].to_pylist())


@pytest.fixture
def catalog(lake):
    catalog = connect(lake)
    catalog.create_namespace_if_not_exists(NAMESPACE)
    yield catalog
    for _, name in catalog.list_tables(NAMESPACE):
        catalog.drop_table((NAMESPACE, name))
    catalog.drop_namespace(NAMESPACE)


@pytest.mark.parametrize("by", ["warehouse", "location"])
def test_config_names_the_warehouse_and_the_endpoints(lake, by):
    rest = lake.rest()
    config = rest.call("GET", f"/v1/config?warehouse={getattr(lake, by)}")
    assert {"defaults", "overrides", "endpoints"} <= set(config)
    assert "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}" in config["endpoints"]
    assert "POST /v1/{prefix}/transactions/commit" in config["endpoints"]


def test_namespaces(catalog):
    with pytest.raises(exceptions.NamespaceAlreadyExistsError):
        catalog.create_namespace(NAMESPACE)
    catalog.update_namespace_properties(NAMESPACE, updates={"owner": "someone", "note": "x"})
    catalog.update_namespace_properties(NAMESPACE, removals={"note"})
    properties = catalog.load_namespace_properties(NAMESPACE)
    assert properties["owner"] == "someone" and "note" not in properties
    assert (NAMESPACE,) in catalog.list_namespaces()
    assert catalog.namespace_exists(NAMESPACE)

    catalog.create_namespace((NAMESPACE, "inner"))
    assert catalog.list_namespaces(NAMESPACE) == [(NAMESPACE, "inner")]
    with pytest.raises(exceptions.NamespaceNotEmptyError):
        catalog.drop_namespace(NAMESPACE)
    catalog.drop_namespace((NAMESPACE, "inner"))

    assert not catalog.namespace_exists("nowhere")
    with pytest.raises(exceptions.NoSuchNamespaceError):
        catalog.load_namespace_properties("nowhere")
    with pytest.raises(exceptions.NoSuchNamespaceError):
        catalog.drop_namespace("nowhere")


def test_a_version_2_table_is_written_and_read(catalog):
    table = catalog.create_table((NAMESPACE, "t"), SCHEMA)
    with pytest.raises(exceptions.TableAlreadyExistsError):
        catalog.create_table((NAMESPACE, "t"), SCHEMA)
    assert table.format_version == 2
    table.append(rows(1, 2, 3))
    table.append(rows(4))
    table.delete("id = 2")
    assert ids(catalog.load_table((NAMESPACE, "t"))) == [1, 3, 4]
    table.overwrite(rows(7, 8))
    again = catalog.load_table((NAMESPACE, "t"))
    assert ids(again) == [7, 8]
    assert again.metadata_location == table.metadata_location
    assert again.scan(snapshot_id=again.history()[0].snapshot_id).count() == 3


def test_a_schema_evolves(catalog):
    table = catalog.create_table((NAMESPACE, "evolving"), SCHEMA)
    table.append(rows(1))
    with table.update_schema() as update:
        update.add_column("state", StringType())
        update.rename_column("city", "town")
    table.append(pa.table({"id": pa.array([2], pa.int64()), "town": ["b"], "state": ["WA"]}))
    read = catalog.load_table((NAMESPACE, "evolving")).scan().to_arrow().sort_by("id").to_pylist()
    assert read == [{"id": 1, "town": "city 1", "state": None}, {"id": 2, "town": "b", "state": "WA"}]


def test_a_table_is_renamed_and_dropped(catalog):
    catalog.create_table((NAMESPACE, "before"), SCHEMA).append(rows(1))
    catalog.rename_table((NAMESPACE, "before"), (NAMESPACE, "after"))
    assert catalog.list_tables(NAMESPACE) == [(NAMESPACE, "after")]
    assert ids(catalog.load_table((NAMESPACE, "after"))) == [1]
    assert not catalog.table_exists((NAMESPACE, "before"))
    catalog.drop_table((NAMESPACE, "after"))
    with pytest.raises(exceptions.NoSuchTableError):
        catalog.load_table((NAMESPACE, "after"))


def test_a_writer_that_is_behind_is_told(catalog):
    catalog.create_table((NAMESPACE, "contended"), SCHEMA)
    first, second = (catalog.load_table((NAMESPACE, "contended")) for _ in range(2))
    with first.update_schema() as update:
        update.add_column("a", StringType())
    late = second.update_schema().add_column("b", StringType())
    with pytest.raises(exceptions.CommitFailedException, match="Requirement failed: "):
        late.commit()


def test_a_version_3_table_is_created_but_this_release_cannot_write_it(catalog):
    table = catalog.create_table((NAMESPACE, "v3"), SCHEMA, properties={"format-version": "3"})
    assert table.format_version == 3
    assert table.metadata.next_row_id == 0
    with pytest.raises(ValueError, match="Cannot write manifest for table version: 3"):
        table.append(rows(1))
    assert catalog.load_table((NAMESPACE, "v3")).current_snapshot() is None
