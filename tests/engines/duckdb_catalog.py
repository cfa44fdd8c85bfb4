"""DuckDB with its Iceberg extension, loaded from the installed packages: no download at run time."""

import importlib.util
from pathlib import Path

import duckdb


def connect(lake):
    """A DuckDB connection with the lake attached as `lk`; it logs in where the lake has a credential."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in ("avro", "httpfs", "iceberg"):
        connection.execute(f"LOAD '{_extension(name)}'")
    if lake.xml:
        connection.execute(
            f"CREATE SECRET (TYPE gcs, KEY_ID 'k', SECRET 's', ENDPOINT '{lake.xml}', USE_SSL false, URL_STYLE 'path')"
        )
    login = "AUTHORIZATION_TYPE 'none'"
    if getattr(lake, "credential", None):
        client, secret = lake.credential.split(":")
        connection.execute(
            f"CREATE SECRET catalog (TYPE iceberg, CLIENT_ID '{client}', CLIENT_SECRET '{secret}',"
            f" OAUTH2_SERVER_URI '{lake.uri}/v1/oauth/tokens')"
        )
        login = "SECRET catalog"
    # By the warehouse's name: DuckDB attaches a name that begins with gs:// read-only.
    connection.execute(
        f"ATTACH '{lake.warehouse}' AS lk (TYPE iceberg, ENDPOINT '{lake.uri}', {login}, ACCESS_DELEGATION_MODE 'none')"
    )
    return connection


def _extension(name):
    package = Path(importlib.util.find_spec(f"duckdb_extension_{name}").origin).parent
    return package / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
