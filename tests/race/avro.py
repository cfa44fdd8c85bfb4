"""Manifest lists and manifests of format version 2, as an engine would write them: no Avro library needed."""

import json

LIST_FIELDS = {
    "manifest_path": (500, "string"),
    "manifest_length": (501, "long"),
    "partition_spec_id": (502, "int"),
    "content": (517, "int"),
    "sequence_number": (515, "long"),
    "min_sequence_number": (516, "long"),
    "added_snapshot_id": (503, "long"),
    "added_files_count": (504, "int"),
    "existing_files_count": (505, "int"),
    "deleted_files_count": (506, "int"),
    "added_rows_count": (512, "long"),
    "existing_rows_count": (513, "long"),
    "deleted_rows_count": (514, "long"),
}
FILE_FIELDS = {
    "content": (134, "int"),
    "file_path": (100, "string"),
    "file_format": (101, "string"),
    "partition": (102, {"type": "record", "name": "r102", "fields": []}),
    "record_count": (103, "long"),
    "file_size_in_bytes": (104, "long"),
}
ENTRY_FIELDS = {
    "status": (0, "int"),
    "snapshot_id": (1, "long"),
    "sequence_number": (3, ["null", "long"]),
    "file_sequence_number": (4, ["null", "long"]),
}


def manifest_list(manifests=(), snapshot_id=1):
    """An Avro file that lists manifests, given as (location, length, number of files)."""
    rows = []
    for location, length, files in manifests:
        numbers = [length, 0, 0, 1, 1, snapshot_id, files, 0, 0, files, 0, 0]
        rows.append(_text(location) + b"".join(map(_long, numbers)))
    return _container(_record("manifest_file", LIST_FIELDS), {"format-version": "2"}, rows)


def manifest(data_files, snapshot_id=1):
    """An Avro file that lists data files, added and with one row each."""
    head = _long(1) + _long(snapshot_id) + _long(0) + _long(0)
    tail = _text("PARQUET") + _long(1) + _long(4)
    rows = [head + _long(0) + _text(location) + tail for location in data_files]
    schema = _record("manifest_entry", ENTRY_FIELDS)
    schema["fields"].append({"name": "data_file", "field-id": 2, "type": _record("r2", FILE_FIELDS)})
    metadata = {"schema": "{}", "partition-spec": "[]", "partition-spec-id": "0", "content": "data"}
    return _container(schema, metadata | {"format-version": "2"}, rows)


def _record(name, fields):
    fields = [{"name": name, "type": kind, "field-id": number} for name, (number, kind) in fields.items()]
    return {"type": "record", "name": name, "fields": fields}


def _container(schema, metadata, rows):
    metadata = {"avro.schema": json.dumps(schema), "avro.codec": "null"} | metadata
    pairs = b"".join(_text(key) + _text(value) for key, value in metadata.items())
    sync = b"marks each block"
    file = b"Obj\x01" + _long(len(metadata)) + pairs + _long(0) + sync
    if rows:
        block = b"".join(rows)
        file += _long(len(rows)) + _long(len(block)) + block + sync
    return file


def _text(value):
    data = value.encode()
    return _long(len(data)) + data


def _long(n):
    """Zigzag and variable length, as Avro writes integers."""
    n, out = (n << 1) ^ (n >> 63), bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out + bytes([n]))
