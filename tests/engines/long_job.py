"""A Spark job that outlives its first credentials: it writes and reads for three minutes in one session.

python long_job.py URI WAREHOUSE JARS SECONDS
"""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession


def main(uri, warehouse, jars, seconds):
    catalog = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "rest",
        ".uri": uri,
        ".warehouse": warehouse,
        ".io-impl": "org.apache.iceberg.gcp.gcs.GCSFileIO",
        ".header.X-Iceberg-Access-Delegation": "vended-credentials",
        # One load of the table for the whole job: what it is given then has to be refreshed.
        ".cache.expiration-interval-ms": "-1",
    }
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config("spark.driver.extraClassPath", f"{Path(jars).resolve()}/*")
    )
    for key, value in catalog.items():
        builder = builder.config(f"spark.sql.catalog.lk{key}", value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lk.long_job")
    spark.sql("CREATE TABLE lk.long_job.t (id BIGINT) USING iceberg")
    began, rounds = time.monotonic(), 0
    while time.monotonic() - began < float(seconds):
        spark.sql(f"INSERT INTO lk.long_job.t VALUES ({rounds})")
        rounds += 1
        assert spark.sql("SELECT count(*) FROM lk.long_job.t").first()[0] == rounds
        time.sleep(10)
    print(f"{rounds} rounds in {time.monotonic() - began:.0f} s")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
