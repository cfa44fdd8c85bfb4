import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.apache.iceberg.ManageSnapshots;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.flink.CatalogLoader;
import org.apache.iceberg.flink.TableLoader;
import org.apache.iceberg.flink.actions.Actions;

/** Flink's SQL on an embedded cluster: batch, streaming, upserts with equality deletes. */
public final class FlinkEngine {
  private static final String URI = System.getenv("CATALOG_URI");
  private static final Map<String, String> CATALOG = Map.of(
      "uri", URI,
      "warehouse", System.getenv("WAREHOUSE_LOCATION"),
      "io-impl", "org.apache.iceberg.gcp.gcs.GCSFileIO",
      "credential", System.getenv("CATALOG_CREDENTIAL"),
      "oauth2-server-uri", URI + "/v1/oauth/tokens");

  private static TableEnvironment batch;
  private static TableEnvironment stream;

  private FlinkEngine() {}

  public static void main(String[] args) {
    Claims.step("config", () -> {
      batch = TableEnvironment.create(
          EnvironmentSettings.newInstance().inBatchMode().withConfiguration(patient()).build());
      Configuration streaming = patient();
      streaming.setString("execution.checkpointing.interval", "500ms"); // a commit every time
      streaming.setString("restart-strategy.type", "none"); // or a job that cannot run is tried for ever
      stream = TableEnvironment.create(
          EnvironmentSettings.newInstance().inStreamingMode().withConfiguration(streaming).build());
      stream.getConfig().set("parallelism.default", "1");
      batch.getConfig().set("parallelism.default", "1");
      for (TableEnvironment env : List.of(batch, stream)) {
        StringBuilder options = new StringBuilder("'type'='iceberg', 'catalog-type'='rest', 'cache-enabled'='false'");
        CATALOG.forEach((key, value) -> options.append(", '" + key + "'='" + value + "'"));
        env.executeSql("CREATE CATALOG lk WITH (" + options + ")");
        env.useCatalog("lk");
      }
      return null;
    });
    Claims.step("namespace", () -> {
      batch.executeSql("CREATE DATABASE flink");
      batch.useDatabase("flink");
      stream.useDatabase("flink");
      Claims.same(rows("SHOW DATABASES").contains("+I[flink]"), true);
      return null;
    });
    Claims.step("create", () -> {
      batch.executeSql("CREATE TABLE t (id BIGINT, city STRING) WITH ('format-version'='3')");
      return Claims.proof("flink.t", "\"version\":3");
    });
    Claims.step("insert", () -> {
      written(batch, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')");
      written(batch, "INSERT OVERWRITE t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')");
      Claims.same(rows("SELECT count(*) FROM t"), List.of("+I[4]"));
      return now("t", "\"rows\":4,\"dvs\":0");
    });
    Claims.absent("delete", () -> done("DELETE FROM t WHERE id = 1"));
    Claims.absent("update", () -> done("UPDATE t SET city = 'x' WHERE id = 2"));
    Claims.absent("merge", () -> done("MERGE INTO t USING t AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET city = 'm'"));
    Claims.step("equality", () -> {
      keyed("k3", 3);
      changes("k3");
      Claims.same(rows("SELECT id, city FROM k3 ORDER BY id"), List.of("+I[1, a2]", "+I[2, b2]", "+I[3, c]"));
      return now("k3", "\"rows\":3,\"version\":3");
    });
    Claims.step("read", () -> {
      for (String history : System.getenv("HISTORIES").split(" ")) {
        Claims.count(history, () -> Long.parseLong(
            rows("SELECT count(*) FROM history." + history).get(0).replaceAll("\\D+", "")));
      }
      Claims.same(rows("SELECT id FROM history.seed_v3 WHERE id = 5000"), List.of());
      return null;
    });
    Claims.step("schema", () -> {
      batch.executeSql("ALTER TABLE t ADD zip INT");
      batch.executeSql("ALTER TABLE t RENAME city TO town");
      written(batch, "INSERT INTO t VALUES (5, 'e', 98101)");
      Claims.same(rows("SELECT town, zip FROM t WHERE id >= 4 ORDER BY id"), List.of("+I[d, null]", "+I[e, 98101]"));
      batch.executeSql("ALTER TABLE t DROP zip");
      return now("t", "\"rows\":5");
    });
    Claims.absent("partition", () -> done("ALTER TABLE t ADD PARTITION (id = 1)"));
    Claims.step("upgrade", () -> {
      keyed("k2", 2);
      changes("k2");
      batch.executeSql("ALTER TABLE k2 SET ('format-version'='3')");
      written(stream, "INSERT INTO k2 VALUES (1, 'a3'), (1, 'a4')");
      Claims.same(rows("SELECT city FROM k2 WHERE id = 1"), List.of("+I[a4]"));
      return now("k2", "\"rows\":3,\"version\":3");
    });
    Claims.step("refs", () -> {
      Table table = load("t");
      long first = table.snapshots().iterator().next().snapshotId();
      Claims.same(rows("SELECT count(*) FROM t /*+ OPTIONS('snapshot-id'='" + first + "') */"), List.of("+I[3]"));
      ManageSnapshots refs = table.manageSnapshots();
      refs.createBranch("audit", table.currentSnapshot().snapshotId()).createTag("first", first).commit();
      written(batch, "INSERT INTO t /*+ OPTIONS('branch'='audit') */ VALUES (6, 'f')");
      Claims.same(rows("SELECT count(*) FROM t /*+ OPTIONS('branch'='audit') */"), List.of("+I[6]"));
      Claims.same(rows("SELECT count(*) FROM t /*+ OPTIONS('tag'='first') */"), List.of("+I[3]"));
      return now("t", "\"rows\":5");
    });
    Claims.absent("views", () -> done("CREATE VIEW v AS SELECT id FROM t"));
    Claims.step("ctas", () -> {
      written(batch, "CREATE TABLE copied WITH ('format-version'='3') AS SELECT * FROM t");
      return now("copied", "\"rows\":5,\"version\":3");
    });
    Claims.step("names", () -> {
      batch.executeSql("CREATE TABLE moving (id BIGINT) WITH ('format-version'='3')");
      batch.executeSql("ALTER TABLE moving RENAME TO moved");
      Claims.same(rows("SELECT count(*) FROM moved"), List.of("+I[0]"));
      batch.executeSql("DROP TABLE moved");
      Claims.same(rows("SHOW TABLES").contains("+I[moved]"), false);
      return null;
    });
    Claims.absent("maintenance", () -> compacted("t"));
    Claims.step("maintenance", () -> {
      batch.executeSql("CREATE TABLE worn (id BIGINT) WITH ('format-version'='2')");
      written(batch, "INSERT INTO worn VALUES (1)");
      written(batch, "INSERT INTO worn VALUES (2)");
      load("worn").expireSnapshots().expireOlderThan(System.currentTimeMillis()).retainLast(1).commit();
      return now("worn", "\"rows\":2");
    });
    Claims.fault("maintenance", () -> compacted("worn")); // Kryo cannot read the bounds of columns
    Claims.step("metadata", () -> {
      Claims.same(rows("SELECT count(*) > 0 FROM `t$snapshots`"), List.of("+I[true]"));
      Claims.same(rows("SELECT sum(record_count) FROM `t$files`"), List.of("+I[5]"));
      return null;
    });
    Claims.step("concurrent", () -> {
      batch.executeSql("CREATE TABLE shared (id BIGINT) WITH ('format-version'='3')");
      TableEnvironment free = TableEnvironment.create(
          EnvironmentSettings.newInstance().inBatchMode().withConfiguration(patient()).build());
      free.getConfig().set("parallelism.default", "1");
      free.registerCatalog("lk", batch.getCatalog("lk").orElseThrow());
      List<TableResult> running = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        running.add(free.executeSql("INSERT INTO lk.flink.shared VALUES (" + i + ")"));
      }
      for (TableResult one : running) {
        one.await();
      }
      return now("shared", "\"rows\":4");
    });
    Claims.step("streaming", () -> {
      stream.executeSql("CREATE TEMPORARY TABLE clock (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='20', "
          + "'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='60')");
      stream.executeSql("CREATE TABLE lake_clock (id BIGINT) WITH ('format-version'='3')");
      written(stream, "INSERT INTO lake_clock SELECT id FROM clock");
      int snapshots = 0;
      for (Object ignored : load("lake_clock").snapshots()) {
        snapshots++;
      }
      Claims.same(snapshots > 1, true);
      return now("lake_clock", "\"rows\":60");
    });
    Claims.absent("variant", () -> done("CREATE TABLE v3 (id BIGINT, v VARIANT) WITH ('format-version'='3')"));
    Claims.absent("transaction", () -> {
      throw new UnsupportedOperationException("Flink's SQL has no transaction over several tables");
    });
    System.exit(0);
  }

  private static void keyed(String name, int version) {
    batch.executeSql("CREATE TABLE " + name + " (id BIGINT, city STRING, PRIMARY KEY (id) NOT ENFORCED) WITH "
        + "('format-version'='" + version + "', 'write.upsert.enabled'='true')");
  }

  /** Rows written twice in one checkpoint (position deletes or DVs) and in two (equality deletes). */
  private static void changes(String name) throws Exception {
    written(stream, "INSERT INTO " + name + " VALUES (1, 'a'), (2, 'b'), (2, 'b2'), (3, 'c')");
    written(stream, "INSERT INTO " + name + " VALUES (1, 'a2')");
  }

  private static String compacted(String name) throws Exception {
    Actions.forTable(StreamExecutionEnvironment.getExecutionEnvironment(patient()), load(name))
        .rewriteDataFiles().maxParallelism(1).execute();
    return null;
  }

  private static String done(String sql) throws Exception {
    written(batch, sql);
    return null;
  }

  /** Waits until a job is done; its failure is the cause of what is thrown. */
  private static void written(TableEnvironment env, String sql) throws Exception {
    env.executeSql(sql).await();
  }

  /** Time-outs for a busy machine; and objects as they are, as in batches: Kryo cannot copy what Iceberg's writer says. */
  private static Configuration patient() {
    Configuration settings = new Configuration();
    settings.setString("pipeline.object-reuse", "true");
    settings.setString("pekko.ask.timeout", "120 s");
    settings.setString("heartbeat.timeout", "300000");
    return settings;
  }

  private static List<String> rows(String sql) throws Exception {
    List<String> found = new ArrayList<>();
    try (CloseableIterator<Row> rows = batch.executeSql(sql).collect()) {
      rows.forEachRemaining(row -> found.add(row.toString()));
    }
    return found;
  }

  /** A proof of the snapshot that is current now, so that later steps do not blur it. */
  private static String now(String name, String expected) throws Exception {
    return Claims.proof("flink." + name, "\"snapshot\":" + load(name).currentSnapshot().snapshotId() + "," + expected);
  }

  private static Table load(String name) throws Exception {
    CatalogLoader loader = CatalogLoader.rest("lk", new org.apache.hadoop.conf.Configuration(), CATALOG);
    TableLoader table = TableLoader.fromCatalog(loader, TableIdentifier.of("flink", name));
    table.open();
    return table.loadTable();
  }
}
