import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.beam.runners.direct.DirectOptions;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.TextIO;
import org.apache.beam.sdk.managed.Managed;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.schemas.Schema;
import org.apache.beam.sdk.transforms.Create;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.transforms.PeriodicImpulse;
import org.apache.beam.sdk.values.PCollection;
import org.apache.beam.sdk.values.Row;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.SupportsNamespaces;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.GenericAppenderFactory;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.PositionDelete;
import org.apache.iceberg.deletes.PositionDeleteWriter;
import org.apache.iceberg.encryption.EncryptedFiles;
import org.joda.time.Duration;
import org.joda.time.Instant;

/** Beam's direct runner with Managed.ICEBERG: batch and streaming writes, and reads into text files. */
public final class BeamEngine {
  /** The format version that Beam's tables get: what its Iceberg can write. */
  private static final int FORMAT = Integer.getInteger("format");

  private static final Schema SCHEMA = Schema.builder().addInt64Field("id").addStringField("city").build();
  private static final Map<String, String> REST = Map.of(
      "type", "rest",
      "uri", System.getenv("CATALOG_URI"),
      "warehouse", System.getenv("WAREHOUSE_LOCATION"),
      "header.x-goog-user-project", "demo-project",
      "io-impl", "org.apache.iceberg.gcp.gcs.GCSFileIO");

  private static Catalog catalog;

  private BeamEngine() {}

  public static void main(String[] args) throws IOException {
    Claims.step("config", () -> {
      catalog = CatalogUtil.buildIcebergCatalog("lk", REST, new Configuration());
      ((SupportsNamespaces) catalog).listNamespaces();
      return null;
    });
    Claims.step("namespace", () -> { // the first write makes it
      write("beam.t", 0, 500, Map.of());
      Claims.same(((SupportsNamespaces) catalog).namespaceExists(Namespace.of("beam")), true);
      return null;
    });
    Claims.Body newer = () -> {
      write("beam.newer", 0, 1, Map.of("table_properties", Map.of("format-version", "3")));
      return now("newer", "\"rows\":1,\"version\":3");
    };
    if (FORMAT < 3) {
      Claims.absent("create", newer);
    } else {
      Claims.step("create", newer);
    }
    Claims.step("insert", () -> {
      write("beam.t", 500, 1000, Map.of());
      write("beam.parted", 0, 10, Map.of("partition_fields", List.of("bucket(id, 2)")));
      write("beam.city_{city}", 0, 2, Map.of()); // each row names its table
      Map<String, String> hadoop = Map.of("type", "hadoop", "warehouse", Path.of("hadoop").toUri().toString());
      write("db.t", 0, 100, Map.of("catalog_properties", hadoop));
      Claims.same(lines("db.t", hadoop), 100L);
      return String.join(",", now("t", "\"rows\":1000,\"dvs\":0,\"version\":" + FORMAT),
          now("parted", "\"rows\":10"), now("city_0", "\"rows\":1"), now("city_1", "\"rows\":1"));
    });
    for (String name : List.of("delete", "update", "merge", "equality", "schema", "partition", "views",
        "ctas", "names", "maintenance", "transaction", "metadata", "variant")) {
      lacking(name, "Managed.ICEBERG creates tables, appends to them and reads them");
    }
    for (String history : System.getenv("HISTORIES").split(" ")) {
      Claims.count(history, () -> lines("history." + history, REST));
    }
    refusedOrRight("read", "history.t04_merge", 1004);
    write("beam.old", 0, 20, Map.of("table_properties", Map.of("format-version", "2")));
    delete("old", 3);
    refusedOrRight("upgrade", "beam.old", 19);
    Claims.step("refs", () -> {
      List<Snapshot> snapshots = new ArrayList<>();
      load("t").snapshots().forEach(snapshots::add);
      Map<String, Object> config = config("beam.t", Map.of("to_snapshot", snapshots.get(0).snapshotId()));
      Claims.same(linesOf(Managed.ICEBERG_CDC, config), 500L);
      return null;
    });
    Claims.step("concurrent", () -> {
      write("beam.shared", 0, 1, Map.of());
      List<Future<?>> running = new ArrayList<>();
      ExecutorService writers = Executors.newFixedThreadPool(3);
      for (int i = 1; i < 4; i++) {
        long id = i;
        running.add(writers.submit(() -> write("beam.shared", id, id + 1, Map.of())));
      }
      writers.shutdown();
      for (Future<?> one : running) {
        one.get();
      }
      return now("shared", "\"rows\":4");
    });
    Claims.step("streaming", () -> {
      Pipeline pipeline = pipeline();
      Instant start = Instant.now();
      PCollection<Row> rows = pipeline
          .apply(PeriodicImpulse.create().startAt(start).stopAt(start.plus(Duration.millis(14_900)))
              .withInterval(Duration.millis(100)))
          .apply(MapElements.into(TypeDescriptors.rows()).via(at -> row(at.getMillis())))
          .setRowSchema(SCHEMA);
      rows.apply(Managed.write(Managed.ICEBERG)
          .withConfig(config("beam.clock", Map.of("triggering_frequency_seconds", 1, "table_properties", properties()))));
      pipeline.run().waitUntilFinish();
      int snapshots = 0;
      for (Snapshot ignored : load("clock").snapshots()) {
        snapshots++;
      }
      Claims.same(snapshots > 1, true);
      return now("clock", "\"rows\":150,\"version\":" + FORMAT);
    });
    System.exit(0);
  }

  /** Deletes a row of a table of one data file by Iceberg's own library: Beam has no deletes. */
  private static void delete(String name, long position) throws IOException {
    Table table = load(name);
    String file = table.currentSnapshot().addedDataFiles(table.io()).iterator().next().path().toString();
    PositionDeleteWriter<Record> writer = new GenericAppenderFactory(table.schema()).newPosDeleteWriter(
        EncryptedFiles.plainAsEncryptedOutput(table.io().newOutputFile(table.location() + "/data/deletes.parquet")),
        FileFormat.PARQUET, null);
    try (writer) {
      PositionDelete<Record> one = PositionDelete.create();
      writer.write(one.set(file, position, null));
    }
    table.newRowDelta().addDeletes(writer.toDeleteFile()).commit();
  }

  /** Appends the rows first to last (not itself) as one batch. */
  private static void write(String table, long first, long last, Map<String, Object> more) {
    Map<String, Object> settings = new HashMap<>(Map.of("table_properties", properties()));
    settings.putAll(more);
    Pipeline pipeline = pipeline();
    pipeline
        .apply(Create.of(LongStream.range(first, last).mapToObj(BeamEngine::row).toList()).withRowSchema(SCHEMA))
        .apply(Managed.write(Managed.ICEBERG).withConfig(config(table, settings)));
    pipeline.run().waitUntilFinish();
  }

  private static long lines(String table, Map<String, String> catalogProperties) throws IOException {
    return linesOf(Managed.ICEBERG, config(table, Map.of("catalog_properties", catalogProperties)));
  }

  /** Reads a table into text files; the number of their lines. */
  private static long linesOf(String source, Map<String, Object> config) throws IOException {
    Path folder = Files.createTempDirectory(Path.of("").toAbsolutePath(), "rows");
    Pipeline pipeline = pipeline();
    pipeline
        .apply(Managed.read(source).withConfig(config))
        .getSinglePCollection()
        .apply(MapElements.into(TypeDescriptors.strings()).via(row -> row.getValues().toString()))
        .apply(TextIO.write().to(folder + "/part").withSuffix(".txt"));
    pipeline.run().waitUntilFinish();
    long found = 0;
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        try (Stream<String> text = Files.lines(file)) {
          found += text.count();
        }
      }
    }
    return found;
  }

  /** A table that Beam may refuse to read; what it does read must be right. */
  private static void refusedOrRight(String step, String table, long live) {
    List<Long> found = new ArrayList<>();
    Claims.absent(step, () -> {
      found.add(lines(table, REST));
      return null;
    });
    for (long rows : found) {
      Claims.step(step, () -> {
        Claims.same(rows, live);
        return null;
      });
    }
  }

  private static Map<String, Object> config(String table, Map<String, Object> more) {
    Map<String, Object> config = new HashMap<>(Map.of("table", table, "catalog_name", "lk", "catalog_properties", REST));
    config.putAll(more);
    return config;
  }

  private static Map<String, String> properties() {
    return Map.of("format-version", String.valueOf(FORMAT));
  }

  private static Pipeline pipeline() {
    DirectOptions options = PipelineOptionsFactory.create().as(DirectOptions.class);
    options.setTargetParallelism(1);
    return Pipeline.create(options);
  }

  private static Row row(long id) {
    return Row.withSchema(SCHEMA).addValues(id, String.valueOf(id)).build();
  }

  private static void lacking(String step, String why) {
    Claims.absent(step, () -> {
      throw new UnsupportedOperationException(why);
    });
  }

  /** A proof of the snapshot that is current now, so that later steps do not blur it. */
  private static String now(String name, String expected) {
    return Claims.proof("beam." + name, "\"snapshot\":" + load(name).currentSnapshot().snapshotId() + "," + expected);
  }

  private static Table load(String name) {
    return catalog.loadTable(TableIdentifier.of("beam", name));
  }
}
