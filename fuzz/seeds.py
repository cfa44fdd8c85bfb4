"""Inputs to begin with: what tests/data holds of each kind, good and corrupt; and small files that hold much."""

import json
import zlib
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
LARGEST = 65536


def write(target, folder):
    """Writes the seeds of a target into a folder, each once."""
    for number, content in enumerate(sorted({seed for seed in TARGETS[target]() if 0 < len(seed) <= LARGEST})):
        (folder / f"seed-{number}").write_bytes(content)


def _files(pattern):
    return (path for path in sorted((DATA / "fixtures").rglob(pattern)) if path.is_file())


def _puffins():
    return (path.read_bytes() for path in _files("*.puffin"))


def _blobs():
    """The deletion vectors of Puffin files: as their footers say, or all between the magics where they say nothing."""
    for file in _puffins():
        length = int.from_bytes(file[-12:-8], "little")
        try:
            blobs = json.loads(file[-12 - length : -12])["blobs"]
            yield from (file[blob["offset"] :][: blob["length"]] for blob in blobs)
        except (ValueError, KeyError, TypeError, RecursionError):
            yield file[4:-12]


def _manifests():
    yield from (content for path in _files("*.avro") if not path.name.startswith("snap-") for content in _avro(path))
    counts = {"type": "array", "items": _record("c", ("key", "int", None), ("value", "long", None))}
    file = [("p", "string", 100), ("f", "string", 101), ("n", "long", 103), ("s", "long", 104)]
    plain = _record("m", ("status", "int", 0), ("d", _record("f", *file), 2))
    yield from _bombs(plain, row_bytes=5)
    # One row, whose column sizes are all zeros.
    detailed = _record("m", ("status", "int", 0), ("d", _record("f", *file, ("c", counts, 108)), 2))
    pairs = 250_000
    yield _container(detailed, "deflate", 1, _deflated(bytes(5) + _varint(pairs) + bytes(2 * pairs + 1)))


def _lists():
    yield from (content for path in _files("snap-*.avro") for content in _avro(path))
    yield from _bombs(_record("m", ("p", "string", 500), ("l", "long", 501), ("s", "int", 502)), row_bytes=3)
    yield _container(_doubling(), "null", 0, b"")


def _bombs(schema, row_bytes):
    """Files of about a kilobyte whose blocks hold very many rows of zeros, or a few rows and very many zeros."""
    for zeros in (10_000 * row_bytes, 500_000, 30_000_000):
        for rows in (1, zeros // row_bytes):
            yield _container(schema, "zstandard", rows, _zstd_zeros(zeros))
            if zeros < 1_000_000:
                yield _container(schema, "deflate", rows, _deflated(bytes(zeros)))


def _doubling():
    """A schema whose records hold the one before twice, and then wrap it again and again."""
    fields = [("a", _record("r0", ("n", "int", None)), None)]
    for n in range(1, 13):
        fields.append(("a", _record(f"r{n}", ("x", f"r{n - 1}", None), ("y", f"r{n - 1}", None)), None))
    wrapped = "r12"
    for n in range(10):
        wrapped = _record(f"w{n}", ("x", wrapped, None))
    return _record("m", *fields, ("w", wrapped, None))


def _record(name, *fields):
    members = [{"name": n, "type": t} | ({"field-id": i} if i is not None else {}) for n, t, i in fields]
    return {"type": "record", "name": name, "fields": members}


def _container(schema, codec, rows, block):
    pairs = {"avro.schema": json.dumps(schema, separators=(",", ":")), "avro.codec": codec}
    text = b"".join(_varint(len(part)) + part.encode() for pair in pairs.items() for part in pair)
    sync = b"sixteen sync by."
    return b"Obj\x01" + _varint(2) + text + b"\0" + sync + _varint(rows) + _varint(len(block)) + block + sync


def _deflated(content):
    compress = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compress.compress(content) + compress.flush()


def _zstd_zeros(length):
    """A Zstandard frame of repeated zeros: four bytes for each 128 KiB (RFC 8878, 3.1.1)."""
    frame = (0xFD2FB528).to_bytes(4, "little") + bytes([0, 0x38])  # no content size; a window of 128 KiB
    while length > 0:
        part, length = min(length, 1 << 17), max(0, length - (1 << 17))
        last = length == 0
        frame += (part << 3 | 1 << 1 | last).to_bytes(3, "little") + b"\0"
    return frame


def _avro(path):
    """The file, and the same without compression: a changed byte of a compressed block seldom means anything."""
    file = path.read_bytes()
    yield file
    head, marker, rest = file.partition(b"\x14avro.codec\x0edeflate")
    if marker:
        yield head + b"\x14avro.codec\x08null" + _inflated(rest)


def _inflated(rest):
    """What follows the codec in the header, and the blocks after it, each decompressed."""
    at = 0
    while rest[at] != 0:  # pairs of the same block of the header's map
        for _ in range(2):
            length, at = _long(rest, at)
            at += length
    out, sync = rest[: at + 17], rest[at + 1 : at + 17]
    at += 17
    while at < len(rest):
        count, at = _long(rest, at)
        length, at = _long(rest, at)
        block = zlib.decompressobj(-15).decompress(rest[at : at + length])
        out += _varint(count) + _varint(len(block)) + block + sync
        at += length + 16
    return out


def _long(data, at):
    bits, shift = 0, 0
    while True:
        bits |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return (bits >> 1) ^ -(bits & 1), at


def _varint(value):
    bits, out = value << 1, b""
    while bits >= 0x80:
        out, bits = out + bytes([bits & 0x7F | 0x80]), bits >> 7
    return out + bytes([bits])


def _rows(name):
    return map(json.loads, (DATA / "metadata" / name).read_text().splitlines())


def _metadata():
    yield from (path.read_bytes() for path in _files("*.metadata.json"))
    for name in ("parse.jsonl", "views.jsonl"):
        yield from (row["input"].encode() for row in _rows(name) if isinstance(row.get("input"), str))


def _requests():
    yield from (path.read_bytes() for path in _files("commit.json"))
    updates = [update for row in _rows("scenarios.jsonl") for update in row["updates"]]
    updates += [row["input"] for row in _rows("views.jsonl") if row["kind"] == "vupdates"]
    yield from (f'{{"requirements":[],"updates":[{update}]}}'.encode() for update in updates)
    for row in _rows("scenarios.jsonl"):
        yield f'{{"requirements":[],"updates":[{",".join(row["updates"])}]}}'.encode()


TARGETS = {
    "puffin": _puffins,
    "dv": _blobs,
    "manifest": _manifests,
    "manifest_list": _lists,
    "metadata": _metadata,
    "commit_request": _requests,
}
