"""PyIceberg on S3 with nothing but what the catalog gives it; run by the Python of the S3 environment.

    python s3_client.py URI vended-credentials|remote-signing

Makes two tables, appends, scans, and then tries what it may not. Prints one line of JSON.
"""

import json
import sys
import urllib.error
import urllib.request

import pyarrow as pa
from pyiceberg.catalog import load_catalog

ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "city": ["Bern", "Oslo", "Rom"]})


def main(uri, mode):
    properties = {"type": "rest", "uri": uri, "warehouse": "lake", "header.X-Iceberg-Access-Delegation": mode}
    if mode == "remote-signing":
        properties["py-io-impl"] = "pyiceberg.io.fsspec.FsspecFileIO"
    catalog = load_catalog("lk", **properties)
    namespace = mode.replace("-", "_")
    catalog.create_namespace_if_not_exists(namespace)
    tables = []
    for name in ("t", "t2"):
        table = catalog.create_table((namespace, name), ROWS.schema)
        table.append(ROWS)
        table.append(ROWS)
        tables.append(catalog.load_table((namespace, name)))
    table, other = tables
    found = {"rows": sorted(table.scan().to_arrow()["id"].to_pylist()), "io": type(table.io).__name__}
    theirs = other.current_snapshot().manifest_list
    given = table.io.properties
    found["key"] = given.get("s3.access-key-id")
    found["secrets"] = [given[name] for name in ("s3.secret-access-key", "s3.session-token") if name in given]
    found["refused"] = refusals(table, theirs) if mode == "vended-credentials" else unsigned(uri, table, theirs)
    print(json.dumps(found))


def refusals(table, theirs):
    """What the keys for one table do not open: the other table's files, in either direction, and the list of both."""
    given = table.io.properties
    # The scan's own machinery, so that what is refused is refused to the very same keys.
    import pyarrow.fs as fs

    store = fs.S3FileSystem(
        access_key=given["s3.access-key-id"],
        secret_key=given["s3.secret-access-key"],
        session_token=given["s3.session-token"],
        endpoint_override=given["s3.endpoint"],
        region=given["client.region"],
    )
    own = table.current_snapshot().manifest_list.removeprefix("s3://")
    theirs = theirs.removeprefix("s3://")
    store.open_input_file(own).read(4)
    store.get_file_info(fs.FileSelector(table.location().removeprefix("s3://") + "/data", recursive=True))
    return [
        refused(lambda: store.open_input_file(theirs).read(4)),
        refused(lambda: store.open_output_stream(theirs + ".x").close()),
        refused(lambda: store.delete_file(theirs)),
        refused(lambda: store.get_file_info(fs.FileSelector(theirs.rsplit("/", 1)[0]))),
    ]


def refused(do):
    try:
        do()
    except (OSError, PermissionError) as e:
        text = str(e)
        return "ACCESS_DENIED" in text or "Access Denied" in text or "HTTP status 403" in text or text
    return False


def unsigned(uri, table, theirs):
    """What is not signed by the first table's endpoint."""
    given = table.io.properties
    endpoint = f"{uri}/{given['s3.signer.endpoint']}"
    object_url = f"{given['s3.endpoint']}/{theirs.removeprefix('s3://')}"
    answers = []
    for method in ("GET", "PUT", "DELETE"):
        body = {"region": "us-east-1", "uri": object_url, "method": method, "headers": {}}
        request = urllib.request.Request(endpoint, json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            urllib.request.urlopen(request)
            answers.append(False)
        except urllib.error.HTTPError as e:
            answers.append(e.code == 403 or e.read().decode())
    return answers


if __name__ == "__main__":
    main(*sys.argv[1:])
