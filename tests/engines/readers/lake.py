"""Where the lake is, as the matrix says it; and a PyIceberg catalog on it."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

URI, WAREHOUSE = os.environ["CATALOG_URI"], os.environ["CATALOG_WAREHOUSE"]
LOCATION = os.environ["WAREHOUSE_LOCATION"]
GCS, XML = os.environ["GCS_URL"], os.environ["XML_ENDPOINT"]
# Empty where the server asks nobody who they are.
CREDENTIAL, TOKEN = os.environ["CATALOG_CREDENTIAL"], os.environ["CATALOG_TOKEN"]


# What the tests' own connections take.
LAKE = SimpleNamespace(uri=URI, warehouse=WAREHOUSE, gcs=GCS, xml=XML, credential=CREDENTIAL)


def pyiceberg():
    """A catalog of PyIceberg."""
    import pyiceberg_catalog

    return pyiceberg_catalog.connect(LAKE)


def duckdb():
    """A connection of DuckDB."""
    import duckdb_catalog

    return duckdb_catalog.connect(LAKE)
