"""ClickHouse in a process (chDB): its database engine for Iceberg REST catalogs."""

import chdb.session
import lake
from claims import absent, counts, same, step

session = chdb.session.Session()


def config():
    session.query("SET allow_database_iceberg = 1")
    session.query(
        f"CREATE DATABASE lake ENGINE = DataLakeCatalog('{lake.URI}/v1', 'k', 's') "
        f"SETTINGS catalog_type = 'rest', warehouse = '{lake.WAREHOUSE}', storage_endpoint = 'http://{lake.XML}/warehouse'"
    )
    same("history.seed_v3" in str(session.query("SHOW TABLES FROM lake")), True)


def rows(history):
    return str(
        session.query(f"SELECT count(id) FROM lake.`history.{history}` WHERE id IS NOT NULL OR id IS NULL")
    ).strip()


step("config", config)
absent("read", lambda: same(int(rows("seed_v3")), 99_999))
counts(rows)
