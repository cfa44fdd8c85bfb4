"""The catalogs that every engine is tried on: a laptop's setting and a production one."""

import os
from dataclasses import dataclass

import pytest
import sql_engine

from env import guillemot, xml_proxy
from env.rest import Rest


@dataclass(frozen=True)
class Lake:
    """A running Guillemot, and how to reach its storage."""

    uri: str
    warehouse: str
    location: str
    gcs: str | None = None
    xml: str | None = None

    def rest(self):
        """A bare client of its warehouse."""
        return Rest(self.uri, self.warehouse)


@pytest.fixture(scope="session")
def gcs():
    """URL of the run's GCS emulator."""
    return os.environ["TEST_GCS_URL"]


@pytest.fixture(scope="session")
def folder_lake(tmp_path_factory):
    """SQLite and a local folder."""
    with guillemot.Guillemot(tmp_path_factory.mktemp("folder")) as server:
        yield Lake(server.uri, server.warehouse, server.warehouses[server.warehouse])


@pytest.fixture(scope="session")
def gcs_lake(tmp_path_factory, gcs):
    """Postgres and gs:// on the emulator."""
    database = guillemot.postgres_database("engines")
    folder = tmp_path_factory.mktemp("gcs")
    with (
        guillemot.Guillemot(folder, database, {"lake": "gs://warehouse"}, gcs) as server,
        xml_proxy.running(gcs) as xml,
    ):
        yield Lake(server.uri, server.warehouse, "gs://warehouse", gcs, xml)


@pytest.fixture(scope="session")
def spark(gcs_lake, tmp_path_factory):
    """Spark on Postgres and gs://, for all tests that share it."""
    with sql_engine.spark(gcs_lake, tmp_path_factory.mktemp("spark")) as engine:
        yield engine


@pytest.fixture(scope="session")
def sail(gcs_lake, tmp_path_factory):
    """Sail on Postgres and gs://."""
    with sql_engine.sail(gcs_lake, tmp_path_factory.mktemp("sail")) as engine:
        yield engine


@pytest.fixture(params=["folder", "gcs"])
def lake(request):
    """Both, one after the other."""
    return request.getfixturevalue(f"{request.param}_lake")
