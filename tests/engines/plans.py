"""What plans are compared with: filters made of a table's bounds, and deletes matched by the specification."""

import datetime
import itertools
import json

from pyiceberg import expressions as ex
from pyiceberg.avro.file import AvroFile
from pyiceberg.catalog.rest.scan_planning import PlanTableScanRequest
from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import (
    MANIFEST_ENTRY_SCHEMAS,
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
)
from pyiceberg.types import DateType, DoubleType, IntegerType, LongType, StringType, TimestampType, TimestamptzType

DELETE_FILE_PATH = 2147483546


def plan(lake, identifier, request):
    """Every task of a plan: data file path to its deletes as (path, offset, length) and its residual."""
    rest = lake.rest()
    *namespace, name = identifier
    table = f"{rest.base}/namespaces/{'%1F'.join(namespace)}/tables/{name}"
    body = json.loads(request.model_dump_json(by_alias=True, exclude_none=True))
    found, replies, tasks = {}, [rest.call("POST", f"{table}/plan", body)], 0
    while replies:
        reply = replies.pop()
        for task in reply["file-scan-tasks"]:
            deletes = [reply["delete-files"][place] for place in task.get("delete-file-references", [])]
            path = task["data-file"]["file-path"]
            assert path not in found, "a file in two tasks"
            found[path] = {key(delete) for delete in deletes}, task["residual-filter"]
        for token in reply.get("plan-tasks", []):
            replies.append(rest.call("POST", f"{table}/tasks", {"plan-task": token}))
            tasks += 1
    assert tasks > 0 or len(found) <= 2
    return found


def key(delete):
    return delete["file-path"], delete.get("content-offset"), delete.get("content-size-in-bytes")


def request_for(row_filter=None, **arguments):
    """A request for what passes a filter, or for everything."""
    return PlanTableScanRequest(filter=None if row_filter == ex.AlwaysTrue() else row_filter, **arguments)


def filters(table):
    """Filters of every kind, about values that the table's files have as bounds, or are next to."""
    yield "everything", ex.AlwaysTrue()
    schema = table.schema()
    bounds = {}
    for manifest in table.current_snapshot().manifests(table.io):
        for entry in manifest.fetch_manifest_entry(table.io):
            file = entry.data_file
            for field, value in [*(file.lower_bounds or {}).items(), *(file.upper_bounds or {}).items()]:
                bounds.setdefault(field, set()).add(value)
    by_column = []
    for field in schema.fields:
        if not field.field_type.is_primitive or isinstance(field.field_type, DoubleType):
            continue
        name = field.name
        yield f"{name} is null", ex.IsNull(name)
        yield f"{name} is not null", ex.NotNull(name)
        values = sorted({literal(field.field_type, value) for value in bounds.get(field.field_id, ())} - {None})
        for value in {values[0], values[len(values) // 2]} if values else ():
            for kind in (
                ex.LessThan,
                ex.LessThanOrEqual,
                ex.GreaterThan,
                ex.GreaterThanOrEqual,
                ex.EqualTo,
                ex.NotEqualTo,
            ):
                yield f"{kind.__name__}({name}, {value})", kind(name, value)
            yield f"{name} in", ex.In(name, {value, values[0]})
            yield f"{name} not in", ex.NotIn(name, {value, values[-1]})
            if isinstance(field.field_type, StringType):
                yield f"{name} starts with", ex.StartsWith(name, value[:2])
                yield f"{name} does not start with", ex.NotStartsWith(name, value[:2])
            by_column.append(ex.LessThan(name, value))
    for one, other in itertools.pairwise(by_column):
        yield f"{one} and {other}", ex.And(one, other)
        yield f"{one} or not {other}", ex.Or(one, ex.Not(other))


def literal(of, value):
    """A bound as a literal of a filter; none for types that filters are not made of here."""
    try:
        value = from_bytes(of, value)
    except Exception:  # bounds of promoted columns are shorter than PyIceberg thinks
        return None
    if isinstance(of, DateType):
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=value)).isoformat()
    if isinstance(of, (TimestampType, TimestamptzType)):
        zone = datetime.UTC if isinstance(of, TimestamptzType) else None
        start = datetime.datetime(1970, 1, 1, tzinfo=zone)
        return (start + datetime.timedelta(microseconds=value)).isoformat()
    return value if isinstance(of, (IntegerType, LongType, StringType)) else None


def entries(table, snapshot, content):
    """The live entries of one kind, read with the columns of version 3, which PyIceberg itself leaves out."""
    for manifest in snapshot.manifests(table.io):
        if manifest.content != content:
            continue
        with AvroFile[ManifestEntry](
            table.io.new_input(manifest.manifest_path),
            MANIFEST_ENTRY_SCHEMAS[3],
            read_types={-1: ManifestEntry, 2: DataFile},
            read_enums={0: ManifestEntryStatus, 101: FileFormat, 134: DataFileContent},
        ) as rows:
            for entry in rows:
                if entry.status != ManifestEntryStatus.DELETED:
                    number = entry._data[3]
                    number = manifest.sequence_number if number is None else number
                    yield entry.data_file, manifest.partition_spec_id, number


def of_version_3(file, name):
    """A column of a data file that PyIceberg has no attribute for."""
    fields = [field.name for field in MANIFEST_ENTRY_SCHEMAS[3].find_type("data_file").fields]
    return file._data[fields.index(name)]


def matched(table, path, deletes, data):
    """The deletes that apply to a data file, by the specification."""
    file, spec_id, number = data[path]
    same = [d for d in deletes if d[1] == spec_id and d[0].partition == file.partition]
    vectors = [
        d for d in deletes if of_version_3(d[0], "referenced_data_file") == path and d[0].file_format == "PUFFIN"
    ]
    assert len(vectors) <= 1
    found = vectors or [
        d
        for d in same
        if d[0].content == DataFileContent.POSITION_DELETES
        and d[0].file_format != "PUFFIN"
        and d[2] >= number
        and names(d[0], path)
    ]
    equality = [d for d in deletes if d[0].content == DataFileContent.EQUALITY_DELETES and d[2] > number]
    unpartitioned = {spec_id for spec_id, spec in table.specs().items() if spec.is_unpartitioned()}
    found += [d for d in equality if (d[1] in unpartitioned or d in same) and may_meet(table, d[0], file)]
    return {
        (d[0].file_path, of_version_3(d[0], "content_offset"), of_version_3(d[0], "content_size_in_bytes"))
        for d in found
    }


def may_meet(table, delete, file):
    """Whether the bounds of the fields that an equality delete compares leave it rows of a data file."""
    for field_id in delete.equality_ids:
        of = table.schema().find_field(field_id).field_type
        maps = delete.lower_bounds, delete.upper_bounds, file.lower_bounds, file.upper_bounds
        bounds = [(values or {}).get(field_id) for values in maps]
        if None not in bounds:
            from_delete, to_delete, from_file, to_file = (from_bytes(of, bound) for bound in bounds)
            if to_delete < from_file or to_file < from_delete:
                return False
    return True


def names(file, path):
    """Whether a position delete file may have rows of a data file, by the bounds of its paths."""
    lower, upper = ((bounds or {}).get(DELETE_FILE_PATH) for bounds in (file.lower_bounds, file.upper_bounds))
    return lower is None or upper is None or lower <= path.encode() <= upper
