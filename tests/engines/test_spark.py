"""Spark 3.5 with Iceberg 1.10: the example script proves itself, and other engines read what it wrote."""

import os
import subprocess

import pytest
from duckdb_catalog import connect as connect_duckdb
from pyiceberg_catalog import connect as connect_pyiceberg

from env.cache import PROJECT

SEED = PROJECT / "examples" / "spark-seed" / "seed.py"


@pytest.fixture
def seeded(lake):
    argv = [os.environ["TEST_SPARK_PYTHON"], SEED, "--jars", os.environ["TEST_SPARK_JARS"]]
    argv += ["--uri", lake.uri, "--warehouse", lake.location]
    if lake.gcs:
        argv += ["--io-impl", "org.apache.iceberg.gcp.gcs.GCSFileIO"]
    run = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    assert run.returncode == 0, run.stdout
    return run.stdout


def test_the_seed_proves_its_steps_and_other_engines_agree(seeded, lake, capsys):
    with capsys.disabled():
        print("\n" + "\n".join(line for line in seeded.splitlines() if "WARN" not in line))
    assert seeded.splitlines()[-1].endswith("passed, 0 failed")
    for name, rows in (("cities_v3", 99_999), ("cities_v2", 998)):
        table = connect_pyiceberg(lake).load_table(("guillemot_seed", name))
        assert table.format_version == 3
        assert len(table.scan().to_arrow()) == rows
        counted = connect_duckdb(lake).execute(f"SELECT count(*) FROM lk.guillemot_seed.{name}").fetchone()
        assert counted == (rows,)
