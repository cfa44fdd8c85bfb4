"""PyIceberg's catalog calls beyond those of test_pyiceberg.py: views, registration, staged tables, purge, lists."""

import pyarrow as pa
import pytest
from pyiceberg import exceptions
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField
from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion
from pyiceberg_catalog import connect

NAMESPACE = "pyiceberg_catalog"
SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))


def version(sql):
    return ViewVersion(
        version_id=1,
        schema_id=0,
        timestamp_ms=1,
        summary={},
        representations=[SQLViewRepresentation(type="sql", sql=sql, dialect="spark")],
        default_namespace=[NAMESPACE],
    )


@pytest.fixture
def catalog(lake):
    catalog = connect(lake)
    catalog.create_namespace_if_not_exists(NAMESPACE)
    yield catalog
    for name in catalog.list_views(NAMESPACE):
        catalog.drop_view(name)
    for name in catalog.list_tables(NAMESPACE):
        catalog.drop_table(name)
    catalog.drop_namespace(NAMESPACE)


def test_views(catalog):
    name = (NAMESPACE, "v")
    view = catalog.create_view(name, SCHEMA, version("select 1"), properties={"comment": "c"})
    assert view.metadata.properties["comment"] == "c"
    assert catalog.view_exists(name) and catalog.list_views(NAMESPACE) == [name]
    assert catalog.load_view(name).metadata.view_uuid == view.metadata.view_uuid
    with pytest.raises(exceptions.ViewAlreadyExistsError):
        catalog.create_view(name, SCHEMA, version("select 2"))
    with pytest.raises(exceptions.TableAlreadyExistsError):
        catalog.create_table(name, SCHEMA)
    catalog.drop_view(name)
    assert not catalog.view_exists(name)
    for call in (catalog.load_view, catalog.drop_view):
        with pytest.raises(exceptions.NoSuchViewError):
            call(name)


def test_a_table_is_registered_and_replaced_by_registering(catalog):
    table = catalog.create_table((NAMESPACE, "t"), SCHEMA)
    empty = table.metadata_location
    table.append(pa.table({"id": pa.array([1, 2], pa.int64())}))
    full = table.metadata_location
    catalog.drop_table((NAMESPACE, "t"))
    assert catalog.register_table((NAMESPACE, "t"), empty).metadata_location == empty
    with pytest.raises(exceptions.TableAlreadyExistsError):
        catalog.register_table((NAMESPACE, "t"), full)
    assert catalog.register_table((NAMESPACE, "t"), full, overwrite=True).scan().count() == 2


def test_a_staged_table_is_there_when_it_is_committed(catalog):
    name = (NAMESPACE, "staged")
    transaction = catalog.create_table_transaction(name, SCHEMA, properties={"note": "x"})
    assert not catalog.table_exists(name)
    transaction.append(pa.table({"id": pa.array([1], pa.int64())}))
    transaction.commit_transaction()
    table = catalog.load_table(name)
    assert table.scan().count() == 1 and table.properties["note"] == "x"
    with pytest.raises(exceptions.TableAlreadyExistsError):
        catalog.create_table_transaction(name, SCHEMA).commit_transaction()
    assert catalog.create_table_if_not_exists(name, SCHEMA).metadata.table_uuid == table.metadata.table_uuid


def test_a_table_is_purged(catalog):
    name = (NAMESPACE, "gone")
    catalog.create_table(name, SCHEMA).append(pa.table({"id": pa.array([1], pa.int64())}))
    catalog.purge_table(name)
    assert not catalog.table_exists(name)
    for call in (catalog.load_table, catalog.drop_table, catalog.purge_table):
        with pytest.raises(exceptions.NoSuchTableError):
            call(name)


def test_tables_and_namespaces_are_listed_whole(catalog):
    names = [(NAMESPACE, f"t{i:02}") for i in range(25)]
    for name in names:
        catalog.create_table(name, SCHEMA)
    assert catalog.list_tables(NAMESPACE) == names
    with pytest.raises(exceptions.NoSuchNamespaceError):
        catalog.list_tables("nowhere")
    with pytest.raises(exceptions.NamespaceNotEmptyError):
        catalog.drop_namespace(NAMESPACE)


def test_credentials_are_asked_for(catalog):
    table = catalog.create_table((NAMESPACE, "t"), SCHEMA)
    assert not catalog.load_credentials((NAMESPACE, "t"), table.location())
