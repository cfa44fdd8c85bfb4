"""Spark with two catalogs on one server: one logs in with id and secret, one with GoogleAuthManager and a key file.

spark_logins.py JARS URI WAREHOUSE CREDENTIAL KEY_FILE
"""

import sys
import tempfile

from pyspark.sql import SparkSession


def main(jars, uri, warehouse, credential, key_file):
    """Each catalog writes a table, and reads what the other one wrote."""
    logins = {
        "secret": {"credential": credential},
        "google": {
            "rest.auth.type": "org.apache.iceberg.gcp.auth.GoogleAuthManager",
            "gcp.auth.credentials-path": key_file,
            "header.x-goog-user-project": "some-project",
        },
    }
    builder = (
        SparkSession.builder.appName("guillemot-logins")
        .master("local[1]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", tempfile.gettempdir())
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.extraClassPath", f"{jars}/*")
    )
    for name, login in logins.items():
        catalog = f"spark.sql.catalog.{name}"
        builder = builder.config(catalog, "org.apache.iceberg.spark.SparkCatalog")
        for key, value in ({"type": "rest", "uri": uri, "warehouse": warehouse} | login).items():
            builder = builder.config(f"{catalog}.{key}", value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.sql("CREATE NAMESPACE secret.logins")
    for name in logins:
        spark.sql(f"CREATE TABLE {name}.logins.{name} (id BIGINT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
        spark.sql(f"INSERT INTO {name}.logins.{name} VALUES (1), (2)")
    for name, other in (("secret", "google"), ("google", "secret")):
        count = spark.sql(f"SELECT count(*) FROM {name}.logins.{other}").first()[0]
        print(f"{name} reads {count} rows of {other}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
