"""Scan planning against the engines' own, on the same tables, file by file and delete by delete.

PyIceberg plans every fixture table and a partitioned one of its own, with filters made of the tables' bounds; it does
not know deletion vectors apart, so the deletes are also matched here, by the specification, from the manifests. DuckDB
has no way to show a plan: what it reads says which files it chose. The server answers two files at a time, so that
every plan but the smallest goes through plan tasks.
"""

import datetime
import json
from contextlib import contextmanager
from urllib.parse import unquote

import pyarrow as pa
import pytest
from duckdb_catalog import connect as connect_duckdb
from plans import entries, filters, matched, plan, request_for
from pydantic import ValidationError
from pyiceberg import expressions as ex
from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import DataFileContent, ManifestContent
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DateType, DoubleType, LongType, NestedField, StringType
from pyiceberg_catalog import connect as connect_pyiceberg

from env import fixtures, guillemot
from env.gcs import Gcs

TABLES = [table.name for table in fixtures.tables()]
# Its deletion vector names a data file that is not in the table.
BROKEN = {"t16_bad_java"}
EQUALITY_DELETES = {"t13_eqdelete"}


@pytest.fixture(scope="module")
def planner(tmp_path_factory, gcs, gcs_lake):
    """A lake whose server answers two files at a time, with the files of every fixture table in it."""
    for table in fixtures.tables():
        table.upload(Gcs(gcs))
    small = guillemot.Guillemot(
        tmp_path_factory.mktemp("planner"), None, {"lake": "gs://warehouse"}, gcs, arguments=["--plan-task-files", "2"]
    )
    with small as server:
        lake = type(gcs_lake)(server.uri, server.warehouse, "gs://warehouse", gcs, gcs_lake.xml)
        for table in fixtures.tables():
            lake.rest().ensure_namespace(table.namespace)
        yield lake


_shown = {}


def show(planner, table):
    """Registers a fixture table. Some are states of one table, and a place has one table at a time."""
    rest, shown = planner.rest(), _shown.get(table.location)
    if shown == table.name:
        return
    if shown:
        rest.drop(table.namespace, shown)
    rest.register(table.namespace, table.name, table.current)
    _shown[table.location] = table.name


@pytest.mark.parametrize("name", TABLES)
def test_pyiceberg_chooses_the_same_files(planner, name):
    fixture = fixtures.table(name)
    show(planner, fixture)
    identifier = (*fixture.namespace, name)
    catalog = connect_pyiceberg(planner)
    table = catalog.load_table(identifier)
    schema, snapshot = table.schema(), table.current_snapshot()
    data = {one[0].file_path: one for one in entries(table, snapshot, ManifestContent.DATA)}
    deletes = list(entries(table, snapshot, ManifestContent.DELETES))
    tried = pruned = 0
    for what, row_filter in filters(table):
        ours = plan(planner, identifier, request_for(row_filter))
        scan = table.scan(row_filter=row_filter)
        chosen = chosen_by(scan)
        assert set(ours) <= chosen, what
        for path in chosen - set(ours):
            # As Iceberg's newest Java release does, we leave out a file all of whose values are excluded.
            assert all_excluded(data[path][0], schema, row_filter), what
        for path, (of_file, _) in ours.items():
            assert of_file == matched(table, path, deletes, data), (what, path)
        if name not in EQUALITY_DELETES:
            check_tasks(scan._plan_files_local(), catalog.plan_scan(identifier, request_for(row_filter)), what)
        tried, pruned = tried + 1, pruned + (len(ours) < len(data))
    assert tried >= 5
    print(f"{name}: {len(data)} files, {len(deletes)} deletes; {tried} filters, {pruned} leave out files")


def chosen_by(scan):
    """The data files that PyIceberg chooses, whether or not it can match their deletes."""
    entries = (entry.data_file for some in scan._plan_manifest_entries() for entry in some)
    return {file.file_path for file in entries if file.content == DataFileContent.DATA}


def all_excluded(file, schema, row_filter):
    """Whether a negative filter excludes every value of a file, by its bounds."""
    field = schema.find_field(row_filter.term.name)
    maps = file.lower_bounds, file.upper_bounds, file.null_value_counts
    lower, upper, nulls = (values.get(field.field_id) for values in maps)
    if isinstance(row_filter, ex.NotStartsWith):
        return nulls == 0 and all(bound.startswith(row_filter.literal.value.encode()) for bound in (lower, upper))
    excluded = {row_filter.literal} if isinstance(row_filter, ex.NotEqualTo) else row_filter.literals
    excluded = {one.to(field.field_type).value for one in excluded}
    return nulls == 0 and lower == upper and from_bytes(field.field_type, lower) in excluded


def check_tasks(local, served, what):
    """PyIceberg's own tasks, and those that its client of our endpoint made."""
    local, served = ({task.file.file_path: task for task in tasks} for tasks in (local, served))
    assert set(served) <= set(local), what
    for path, task in served.items():
        theirs = local[path]
        assert (task.residual == ex.AlwaysTrue()) == (theirs.residual == ex.AlwaysTrue()), (
            what,
            task.residual,
            theirs.residual,
        )
        # It takes every vector of a partition for a delete of every file, and tells them apart when it reads.
        assert {d.file_path for d in task.delete_files} <= {d.file_path for d in theirs.delete_files}, what


@pytest.mark.parametrize("name", sorted(set(TABLES) - BROKEN))
def test_pyiceberg_finds_the_same_appends(planner, name):
    fixture = fixtures.table(name)
    show(planner, fixture)
    identifier = (*fixture.namespace, name)
    table = connect_pyiceberg(planner).load_table(identifier)
    chain, at = [], table.current_snapshot()
    while at is not None:
        chain.append(at.snapshot_id)
        at = table.metadata.snapshot_by_id(at.parent_snapshot_id) if at.parent_snapshot_id else None
    for start in chain[1:]:
        request = request_for(start_snapshot_id=start, end_snapshot_id=chain[0])
        scan = table.incremental_append_scan(from_snapshot_id_exclusive=start, to_snapshot_id_inclusive=chain[0])
        ours = plan(planner, identifier, request)
        assert set(ours) == {task.file.file_path for task in scan.plan_files()}
        assert all(not deletes for deletes, _ in ours.values())


@pytest.fixture
def partitioned(planner):
    """A table of PyIceberg's with two partition fields, one of them with nulls, and a file for each partition."""
    catalog = connect_pyiceberg(planner)
    identifier = ("planning_test", "partitioned")
    catalog.create_namespace_if_not_exists("planning_test")
    columns = [("id", LongType()), ("city", StringType()), ("day", DateType()), ("ratio", DoubleType())]
    schema = Schema(*(NestedField(at + 1, name, of, required=False) for at, (name, of) in enumerate(columns)))
    fields = [PartitionField(at, 998 + at, IdentityTransform(), name) for at, name in ((2, "city"), (3, "day"))]
    table = catalog.create_table(identifier, schema, partition_spec=PartitionSpec(*fields))
    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    for city in ("berlin", "bern", "oslo", None):
        first = len(city or "") * 100
        rows = {"id": range(first, first + 3), "city": [city] * 3, "day": days, "ratio": [0.5, None, float("nan")]}
        table.append(pa.table({name: list(values) for name, values in rows.items()}, schema=table.schema().as_arrow()))
    yield identifier, table
    catalog.drop_table(identifier)


def test_partitions_are_chosen_as_pyiceberg_does(planner, partitioned):
    identifier, table = partitioned
    catalog = connect_pyiceberg(planner)
    more = [
        ("a day", ex.And(ex.GreaterThan("day", "2024-01-01"), ex.LessThan("day", "2024-01-03"))),
        ("a city and an id", ex.And(ex.EqualTo("city", "oslo"), ex.GreaterThan("id", 401))),
        ("no city", ex.IsNull("city")),
        ("NaN", ex.IsNaN("ratio")),
        ("no NaN", ex.NotNaN("ratio")),
        ("a number", ex.GreaterThan("ratio", 0.75)),
    ]
    residuals = set()
    for what, row_filter in [*filters(table), *more]:
        ours = plan(planner, identifier, request_for(row_filter))
        scan = table.scan(row_filter=row_filter)
        assert set(ours) <= chosen_by(scan), what
        residuals |= {json.dumps(residual) for _, residual in ours.values()}
        if any("city=null" in path for path in ours):
            # Its client takes no null in a partition, and its own planning cannot compare one.
            with pytest.raises(ValidationError, match="partition"):
                catalog.plan_scan(identifier, request_for(row_filter))
        else:
            check_tasks(scan._plan_files_local(), catalog.plan_scan(identifier, request_for(row_filter)), what)
    assert "true" in residuals and len(residuals) > 10


@contextmanager
def reads(lake, query):
    """Runs a query in DuckDB; yields its rows, the data files that it read, and the deletes as (path, offset)."""
    connection = connect_duckdb(lake)
    connection.execute("CALL enable_logging('HTTP')")
    rows = connection.execute(query).fetchall()
    log = connection.execute(
        "SELECT request.url, request.headers['Range'] FROM duckdb_logs_parsed('HTTP')"
        " WHERE request.type = 'GET' AND request.headers['Range'] IS NOT NULL"
        f" AND request.url LIKE 'http://{lake.xml}/%'"
    ).fetchall()
    urls = [
        (unquote(url).replace(f"http://{lake.xml}", "gs:/"), int(places.split("=")[1].split("-")[0]))
        for url, places in log
    ]
    yield (
        rows,
        {url for url, _ in urls if url.endswith(".parquet")},
        {one for one in urls if one[0].endswith(".puffin")},
    )
    connection.close()


@pytest.mark.parametrize(
    ("condition", "row_filter"),
    [
        ("true", ex.AlwaysTrue()),
        ("id < 150", ex.LessThan("id", 150)),
        ("id = 250", ex.EqualTo("id", 250)),
        ("id >= 400", ex.GreaterThanOrEqual("id", 400)),
        ("id > 100000", ex.GreaterThan("id", 100_000)),
    ],
)
def test_duckdb_reads_the_same_files_and_vectors(planner, condition, row_filter):
    fixture = fixtures.table("t02b_manyfiles")
    show(planner, fixture)
    identifier = (*fixture.namespace, fixture.name)
    ours = plan(planner, identifier, request_for(row_filter))
    with reads(planner, f"SELECT id FROM lk.{'.'.join(identifier)} WHERE {condition}") as (_, files, vectors):
        assert files == set(ours)
        planned = {(path, offset) for deletes, _ in ours.values() for path, offset, _ in deletes}
        assert all(len(deletes) == 1 for deletes, _ in ours.values())
        # DuckDB reads the vectors of all files before it leaves out any.
        assert planned <= vectors
        if condition == "true":
            footers = {one for one in vectors if one[1] > 300}
            assert planned == vectors - footers


@pytest.mark.parametrize(
    ("condition", "row_filter"),
    [
        ("true", ex.AlwaysTrue()),
        ("city = 'oslo'", ex.EqualTo("city", "oslo")),
        ("city IN ('oslo', 'bern') AND id > 401", ex.And(ex.In("city", {"oslo", "bern"}), ex.GreaterThan("id", 401))),
        ("day >= DATE '2024-01-03'", ex.GreaterThanOrEqual("day", "2024-01-03")),
        ("id = 602", ex.EqualTo("id", 602)),
    ],
)
def test_duckdb_reads_the_same_partitions(planner, partitioned, condition, row_filter):
    identifier, _ = partitioned
    ours = plan(planner, identifier, request_for(row_filter))
    with reads(planner, f"SELECT id FROM lk.{'.'.join(identifier)} WHERE {condition}") as (rows, files, _):
        assert rows
        assert files == set(ours)


def test_position_deletes_that_duckdb_wrote_apply_to_their_files(planner, partitioned):
    """Version 2: DuckDB's deletes are position delete files, and it reads those that our plan names."""
    identifier, table = partitioned
    connect_duckdb(planner).execute(f"DELETE FROM lk.{'.'.join(identifier)} WHERE id IN (400, 401, 601)")
    table.refresh()
    snapshot = table.current_snapshot()
    data = {one[0].file_path: one for one in entries(table, snapshot, ManifestContent.DATA)}
    deletes = list(entries(table, snapshot, ManifestContent.DELETES))
    ours = plan(planner, identifier, request_for())
    for path, (of_file, _) in ours.items():
        assert of_file == matched(table, path, deletes, data), path
    assert sum(len(of_file) for of_file, _ in ours.values()) == 5
    assert set(ours) == {task.file.file_path for task in table.scan()._plan_files_local()}
    with reads(planner, f"SELECT id FROM lk.{'.'.join(identifier)}") as (rows, files, _):
        assert len(rows) == 7
        assert files == set(ours) | {path for of_file, _ in ours.values() for path, _, _ in of_file}
