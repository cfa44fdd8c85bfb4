"""BigQuery runs in Google's cloud alone. What can be shown here: the names that it takes are taken, and what an
external table of it would be pointed at is one metadata file in a bucket."""

import json
import urllib.parse

import pytest
from bigquery_names import objections

from env.gcs import Gcs
from env.rest import Refused

PROJECT = "some-project"
SCHEMA = {"type": "struct", "fields": [{"id": 1, "name": "id", "type": "long", "required": False}]}
LEGAL = [
    ("sales", "orders"),
    ("Sales_2026", "orders_2026"),
    ("2026", "2026"),
    ("_", "_"),
    ("a" * 100, "t" * 100),
    ("names", "orders-eu"),
    ("names", "orders of today"),
    ("names", "заказы"),
    ("names", "注文"),
    ("names", "cafe\u0301"),
]
# Guillemot takes them, engines write to them, and BigQuery has no name for them.
OUT_OF_REACH = [(["a", "b"], "t"), (["dashed-name"], "t"), (["names"], "a.b"), (["names"], "t$"), (["names"], "50%")]


def create(rest, namespace, name):
    """What the catalog answers to the creation of a table."""
    for level in range(1, len(namespace) + 1):
        rest.ensure_namespace(namespace[:level])
    path = urllib.parse.quote("\x1f".join(namespace), safe="")
    return rest.call("POST", f"{rest.base}/namespaces/{path}/tables", {"name": name, "schema": SCHEMA})


@pytest.mark.parametrize(("namespace", "name"), LEGAL)
def test_a_name_that_bigquery_takes_is_taken(gcs_lake, gcs, namespace, name):
    assert objections(PROJECT, gcs_lake.warehouse, [namespace], name) == []
    assert objections(PROJECT, gcs_lake.location.removeprefix("gs://"), [namespace], name) == []
    rest = gcs_lake.rest()
    create(rest, [namespace], name)
    try:
        loaded = rest.load([namespace], name)
        # `uris` of an external table: one object, no wildcard, no query.
        place = loaded["metadata-location"]
        assert place.startswith(f"{gcs_lake.location}/") and place.endswith(".metadata.json") and "*" not in place
        assert json.loads(Gcs(gcs).get(place)) == loaded["metadata"]
    finally:
        rest.drop([namespace], name)


@pytest.mark.parametrize(("namespace", "name"), OUT_OF_REACH)
def test_a_name_that_bigquery_does_not_take_is_told_apart(gcs_lake, namespace, name):
    assert len(objections(PROJECT, gcs_lake.warehouse, namespace, name)) == 1
    rest = gcs_lake.rest()
    try:
        create(rest, namespace, name)
    except Refused as e:
        pytest.fail(f"no longer taken, and docs/engines.md says that it is: {e}")
    rest.drop(namespace, name)
