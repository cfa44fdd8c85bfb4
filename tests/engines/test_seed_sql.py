"""Google's statements on version 3 tables, read where they lie and run as they are, by a session set up as theirs."""

import os
import subprocess
from pathlib import Path

import pytest
from matrix.proof import delete_files
from matrix.run import Lake, logins
from pyiceberg_catalog import connect
from test_spark import SEED

from env import guillemot
from env.cache import PROJECT
from env.gcs import Gcs

# Beside the project; GUILLEMOT_SEED_SQL names another place.
STATEMENTS = Path(os.environ.get("GUILLEMOT_SEED_SQL") or PROJECT.parent / "shared" / "seed.sql")
# The statements upgrade a table that they do not make: version 2, with one delete.
BEFORE = """
CREATE NAMESPACE IF NOT EXISTS lk.my_namespace;
CREATE TABLE lk.my_namespace.mytable_v2 (id BIGINT, city STRING, state STRING) USING iceberg
  TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read');
INSERT INTO lk.my_namespace.mytable_v2 SELECT /*+ COALESCE(1) */ id, CAST(id AS STRING), 'OR' FROM range(1, 1001);
DELETE FROM lk.my_namespace.mytable_v2 WHERE id = 10;
"""


@pytest.fixture
def lake(tmp_path, gcs):
    """A closed server with a bucket of its own."""
    Gcs(gcs).create_bucket("seed")
    with guillemot.Guillemot(tmp_path, None, {"lake": "gs://seed"}, gcs, arguments=["--auth", "identities"]) as server:
        yield Lake(server.uri, "lake", "gs://seed", gcs, **logins(server))


@pytest.mark.skipif(not STATEMENTS.exists(), reason=f"{STATEMENTS} is not there")
def test_the_statements_run_unchanged(lake, tmp_path, capsys):
    before = tmp_path / "before.sql"
    before.write_text(BEFORE)
    argv = [os.environ["TEST_SPARK_PYTHON"], SEED, "--jars", os.environ["TEST_SPARK_JARS"]]
    argv += ["--uri", f"{lake.uri}/v1/restcatalog", "--warehouse", lake.location]
    argv += ["--io-impl", "org.apache.iceberg.gcp.gcs.GCSFileIO", "--conf", "header.x-goog-user-project=demo-project"]
    argv += ["--conf", "rest.auth.type=org.apache.iceberg.gcp.auth.GoogleAuthManager"]
    argv += ["--sql", before, "--sql", STATEMENTS]
    variables = os.environ | {"GOOGLE_APPLICATION_CREDENTIALS": str(lake.key_file)}
    run = subprocess.run(argv, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
    assert run.returncode == 0, run.stdout
    with capsys.disabled():
        print("\n" + "\n".join(line for line in run.stdout.splitlines() if "WARN" not in line))
    catalog = connect(lake)
    v3, v2 = (catalog.load_table(("my_namespace", f"mytable_v{version}")) for version in (3, 2))
    assert [table.format_version for table in (v3, v2)] == [3, 3]
    rows = {row["id"]: (row["city"], row["state"]) for row in v3.scan().to_arrow().to_pylist()}
    assert len(rows) == 99_999 and 5000 not in rows and rows[1] == ("1", "NY")
    assert set(delete_files(v3, v3.current_snapshot())) == {"PUFFIN"}
    assert len(v2.scan().to_arrow()) == 999
