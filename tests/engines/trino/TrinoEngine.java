import io.trino.Session;
import io.trino.plugin.iceberg.IcebergPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.MaterializedRow;
import io.trino.testing.TestingSession;
import io.trino.testing.TransactionBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Trino's SQL on one embedded server: every step of the matrix. */
public final class TrinoEngine {
  private static DistributedQueryRunner trino;

  private TrinoEngine() {}

  public static void main(String[] args) {
    Claims.step("config", () -> {
      Session session = TestingSession.testSessionBuilder()
          .setCatalog("lk")
          .setSchema("trino")
          .setSystemProperty("task_min_writer_count", "1") // or small inserts are many files
          .build();
      trino = DistributedQueryRunner.builder(session).setWorkerCount(0).build();
      trino.installPlugin(new IcebergPlugin());
      trino.createCatalog("lk", "iceberg", Map.of(
          "iceberg.catalog.type", "rest",
          "iceberg.rest-catalog.uri", System.getenv("CATALOG_URI"),
          "iceberg.rest-catalog.warehouse", System.getenv("WAREHOUSE_LOCATION"),
          "iceberg.rest-catalog.http-headers", "x-goog-user-project:demo-project",
          "iceberg.expire-snapshots.min-retention", "0s",
          "iceberg.remove-orphan-files.min-retention", "0s",
          "fs.gcs.enabled", "true",
          "gcs.endpoint", System.getenv("GCS_URL"),
          "gcs.auth-type", "APPLICATION_DEFAULT")); // where there are none, Trino goes without
      sql("SHOW SCHEMAS FROM lk");
      return null;
    });
    Claims.step("namespace", () -> {
      sql("CREATE SCHEMA trino");
      Claims.same(sql("SHOW SCHEMAS FROM lk LIKE 'trino'"), List.of(List.of("trino")));
      return null;
    });
    Claims.step("create", () -> {
      create("t", 3);
      return Claims.proof("trino.t", "\"version\":3");
    });
    Claims.step("insert", () -> {
      insert("t", 0, 999);
      return now("t", "\"rows\":1000,\"dvs\":0");
    });
    Claims.step("delete", () -> {
      sql("DELETE FROM t WHERE id = 7");
      return now("t", "\"rows\":999,\"dvs\":1");
    });
    Claims.step("update", () -> {
      sql("UPDATE t SET city = 'NY' WHERE id = 8");
      Claims.same(value("SELECT city FROM t WHERE id = 8"), "NY");
      return now("t", "\"rows\":999,\"dvs\":1");
    });
    Claims.step("merge", () -> {
      sql("MERGE INTO t USING (SELECT id FROM UNNEST(sequence(990, 1009)) u(id)) s ON t.id = s.id "
          + "WHEN MATCHED AND s.id = 991 THEN DELETE WHEN MATCHED THEN UPDATE SET city = 'm' "
          + "WHEN NOT MATCHED THEN INSERT (id, city) VALUES (s.id, 'n')");
      return now("t", "\"rows\":1008,\"dvs\":1");
    });
    Claims.step("read", () -> {
      for (String history : System.getenv("HISTORIES").split(" ")) {
        Claims.count(history, () -> (Long) value("SELECT count(*) FROM history." + history));
      }
      Claims.same(sql("SELECT id FROM history.seed_v3 WHERE id = 5000"), List.of());
      return null;
    });
    Claims.step("schema", () -> {
      sql("ALTER TABLE t ADD COLUMN zip INTEGER");
      sql("ALTER TABLE t ALTER COLUMN zip SET DATA TYPE BIGINT");
      sql("ALTER TABLE t RENAME COLUMN zip TO code");
      sql("INSERT INTO t VALUES (5000, 'x', 98101)");
      Claims.same(value("SELECT sum(code) FROM t WHERE id IN (1, 5000)"), 98101L);
      sql("ALTER TABLE t DROP COLUMN code");
      return now("t", "\"rows\":1009");
    });
    Claims.step("partition", () -> {
      sql("ALTER TABLE t SET PROPERTIES partitioning = ARRAY['bucket(id, 2)']");
      insert("t", 6000, 6009);
      sql("DELETE FROM t WHERE id = 6001");
      return now("t", "\"rows\":1018");
    });
    Claims.step("upgrade", () -> {
      create("old", 2);
      insert("old", 0, 19);
      sql("DELETE FROM old WHERE id = 3");
      sql("ALTER TABLE old SET PROPERTIES format_version = 3");
      sql("DELETE FROM old WHERE id = 4");
      return now("old", "\"rows\":18,\"dvs\":1,\"version\":3");
    });
    Claims.step("refs", () -> {
      Object first = value("SELECT snapshot_id FROM \"t$snapshots\" WHERE summary['total-records'] = '1000' "
          + "ORDER BY committed_at LIMIT 1");
      Claims.same(value("SELECT count(*) FROM t FOR VERSION AS OF " + first), 1000L);
      Claims.same(value("SELECT count(*) FROM t FOR TIMESTAMP AS OF current_timestamp - INTERVAL '0.01' SECOND"), 1018L);
      sql("ALTER TABLE t EXECUTE rollback_to_snapshot(" + first + ")");
      String found = now("t", "\"rows\":1000,\"dvs\":0");
      Object last = value("SELECT snapshot_id FROM \"t$snapshots\" ORDER BY committed_at DESC LIMIT 1");
      sql("ALTER TABLE t EXECUTE rollback_to_snapshot(" + last + ")");
      return found + "," + now("t", "\"rows\":1018");
    });
    Claims.absent("refs", () -> done("CREATE BRANCH audit IN TABLE t"));
    Claims.absent("refs", () -> done("CREATE TAG first IN TABLE t"));
    Claims.step("views", () -> {
      sql("CREATE VIEW v AS SELECT id FROM t");
      Claims.same(value("SELECT count(*) FROM v"), 1018L);
      sql("CREATE OR REPLACE VIEW v AS SELECT id FROM t WHERE id < 10");
      Claims.same(value("SELECT count(*) FROM v"), 9L);
      sql("DROP VIEW v");
      return null;
    });
    Claims.absent("views", () -> done("CREATE MATERIALIZED VIEW mv AS SELECT id FROM t"));
    Claims.step("ctas", () -> {
      String made = "TABLE copied WITH (format_version = 3) AS SELECT id FROM t";
      sql("CREATE " + made);
      String found = now("copied", "\"rows\":1018,\"version\":3");
      sql("CREATE OR REPLACE " + made + " WHERE id < 10");
      return found + "," + now("copied", "\"rows\":9");
    });
    Claims.step("names", () -> {
      sql("CREATE TABLE moving (id BIGINT)");
      sql("ALTER TABLE moving RENAME TO moved");
      Claims.same(value("SELECT count(*) FROM moved"), 0L);
      sql("DROP TABLE moved");
      Claims.same(sql("SHOW TABLES LIKE 'mov%'"), List.of());
      sql("CREATE SCHEMA empty");
      sql("DROP SCHEMA empty");
      return null;
    });
    Claims.step("maintenance", () -> {
      create("worn", 3);
      insert("worn", 0, 49);
      insert("worn", 50, 99);
      sql("DELETE FROM worn WHERE id = 60");
      sql("ANALYZE worn");
      sql("ALTER TABLE worn EXECUTE optimize");
      sql("ALTER TABLE worn EXECUTE optimize_manifests");
      sql("ALTER TABLE worn EXECUTE expire_snapshots(retention_threshold => '0s')");
      sql("ALTER TABLE worn EXECUTE remove_orphan_files(retention_threshold => '0s')");
      Claims.same(value("SELECT count(*) FROM \"worn$snapshots\""), 1L);
      return now("worn", "\"rows\":99");
    });
    Claims.absent("transaction", () -> {
      create("one", 3);
      create("two", 3);
      TransactionBuilder.transaction(
              trino.getTransactionManager(), trino.getPlannerContext().getMetadata(), trino.getAccessControl())
          .execute(trino.getDefaultSession(), both -> {
            trino.execute(both, "INSERT INTO one VALUES (1, 'a')");
            trino.execute(both, "INSERT INTO two VALUES (1, 'a')");
          });
      return null;
    });
    Claims.step("concurrent", () -> {
      create("shared", 3);
      List<Future<?>> running = new ArrayList<>();
      try (ExecutorService writers = Executors.newFixedThreadPool(4)) {
        for (int i = 0; i < 4; i++) {
          String row = "(" + i + ", 'c')";
          running.add(writers.submit(() -> sql("INSERT INTO shared VALUES " + row)));
        }
      }
      for (Future<?> one : running) {
        one.get();
      }
      return now("shared", "\"rows\":4");
    });
    Claims.step("metadata", () -> {
      for (String name : List.of("files", "snapshots", "manifests", "history", "partitions", "refs", "properties",
          "metadata_log_entries", "all_manifests")) {
        Claims.same(value("SELECT count(*) > 0 FROM \"t$" + name + "\""), true);
      }
      for (String name : List.of("entries", "all_entries")) {
        Claims.same(value("SELECT count(*) > 0 FROM \"shared$" + name + "\""), true);
      }
      return null;
    });
    Claims.absent("metadata", () -> done("SELECT count(*) FROM \"t$entries\"")); // a column of t was dropped
    Claims.absent("streaming", () -> {
      throw new UnsupportedOperationException("Trino has no streaming queries");
    });
    Claims.absent("variant", () -> {
      sql("CREATE TABLE v3 (id BIGINT, v VARIANT) WITH (format_version = 3)");
      sql("INSERT INTO v3 VALUES (1, CAST(JSON '{\"a\": 5}' AS VARIANT))");
      Claims.same(value("SELECT CAST(v['a'] AS BIGINT) FROM v3"), 5L);
      return null;
    });
    System.exit(0);
  }

  private static void create(String name, int version) {
    sql("CREATE TABLE " + name + " (id BIGINT, city VARCHAR) WITH (format_version = " + version + ")");
  }

  private static void insert(String name, int first, int last) {
    sql("INSERT INTO " + name + " (id, city) SELECT id, CAST(id AS VARCHAR) FROM UNNEST(sequence(" + first + ", " + last
        + ")) u(id)");
  }

  private static String done(String sql) {
    sql(sql);
    return null;
  }

  private static Object value(String sql) {
    return sql(sql).get(0).get(0);
  }

  private static List<List<Object>> sql(String sql) {
    return trino.execute(sql).getMaterializedRows().stream().map(MaterializedRow::getFields).toList();
  }

  /** A proof of the snapshot that is current now, so that later steps do not blur it. */
  private static String now(String name, String expected) {
    Object snapshot = value("SELECT snapshot_id FROM \"" + name + "$refs\" WHERE name = 'main'");
    return Claims.proof("trino." + name, "\"snapshot\":" + snapshot + "," + expected);
  }
}
