"""Sail: Spark's SQL without a JVM, by its own Iceberg reader and writer."""

import json
import os

import lake

os.environ["SAIL_CATALOG__LIST"] = (
    f'[{{type="iceberg-rest", name="lk", uri="{lake.URI}", warehouse="{lake.WAREHOUSE}"}}]'
)
os.environ["GOOGLE_SERVICE_ACCOUNT_KEY"] = json.dumps(
    {
        "gcs_base_url": f"http://{lake.XML}",
        "disable_oauth": True,
        "client_email": "",
        "private_key": "",
        "private_key_id": "",
    }
)

from claims import counts, same, step
from pysail.spark import SparkConnectServer
from pyspark.sql import SparkSession

spark = None


def config():
    global spark
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://{host}:{port}").getOrCreate()
    spark.sql("SHOW NAMESPACES IN lk").collect()


def rows(history):
    return spark.sql(f"SELECT count(*) FROM lk.history.{history}").collect()[0][0]


step("config", config)
step("read", lambda: same(rows("seed_v3"), 99_999))
counts(rows)
