package guillemot.compat;

import static org.apache.iceberg.expressions.Expressions.alwaysTrue;
import static org.apache.iceberg.expressions.Expressions.and;
import static org.apache.iceberg.expressions.Expressions.bucket;
import static org.apache.iceberg.expressions.Expressions.day;
import static org.apache.iceberg.expressions.Expressions.equal;
import static org.apache.iceberg.expressions.Expressions.greaterThan;
import static org.apache.iceberg.expressions.Expressions.greaterThanOrEqual;
import static org.apache.iceberg.expressions.Expressions.in;
import static org.apache.iceberg.expressions.Expressions.isNaN;
import static org.apache.iceberg.expressions.Expressions.isNull;
import static org.apache.iceberg.expressions.Expressions.lessThan;
import static org.apache.iceberg.expressions.Expressions.lessThanOrEqual;
import static org.apache.iceberg.expressions.Expressions.not;
import static org.apache.iceberg.expressions.Expressions.notEqual;
import static org.apache.iceberg.expressions.Expressions.notIn;
import static org.apache.iceberg.expressions.Expressions.notNaN;
import static org.apache.iceberg.expressions.Expressions.notNull;
import static org.apache.iceberg.expressions.Expressions.notStartsWith;
import static org.apache.iceberg.expressions.Expressions.or;
import static org.apache.iceberg.expressions.Expressions.rewriteNot;
import static org.apache.iceberg.expressions.Expressions.startsWith;
import static org.apache.iceberg.expressions.Expressions.truncate;
import static org.apache.iceberg.types.Types.NestedField.optional;
import static org.apache.iceberg.types.Types.NestedField.required;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.deletes.BaseDVFileWriter;
import org.apache.iceberg.deletes.DVFileWriter;
import org.apache.iceberg.expressions.Binder;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.io.OutputFileFactory;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Server-side planning against the client's own: the same files, the same deletes, the same residuals. The server
 * answers three files at a time, so that most plans go through plan tasks.
 */
class PlanningTest {
  private static final TableIdentifier TABLE = TableIdentifier.of("ns", "tbl");
  private static final long DAY_MICROS = 86_400_000_000L;
  private static final Schema SCHEMA =
      new Schema(
          required(1, "id", Types.LongType.get()),
          optional(2, "name", Types.StringType.get()),
          optional(3, "at", Types.TimestampType.withZone()),
          optional(4, "ratio", Types.DoubleType.get()),
          optional(5, "place", Types.StructType.of(optional(6, "city", Types.StringType.get()))));

  /** The client plans. */
  private RESTCatalog local;

  /** The server plans. */
  private RESTCatalog remote;

  @BeforeEach
  void connect() {
    local = Live.connect(Live.uri(getClass()), Map.of());
    remote = Live.connect(Live.uri(getClass()), Map.of("scan-planning-mode", "server"));
    Live.empty(local);
    local.createNamespace(Namespace.of("ns"));
  }

  @AfterEach
  void close() throws IOException {
    local.close();
    remote.close();
  }

  private static PartitionSpec spec() {
    return PartitionSpec.builderFor(SCHEMA).bucket("id", 4).truncate("name", 2).day("at").build();
  }

  private static Table fill(RESTCatalog catalog, PartitionSpec spec, int version) {
    Table table = catalog.createTable(TABLE, SCHEMA, spec, Map.of("format-version", String.valueOf(version)));
    for (int batch = 0; batch < 3; batch++) {
      var append = table.newFastAppend();
      for (int number = 0; number < 4; number++) {
        append.appendFile(file(table.spec(), batch * 4 + number));
      }
      append.commit();
    }
    return table;
  }

  /** A data file that is only named, of ten ids in one bucket, one name and one day. */
  private static DataFile file(PartitionSpec spec, int number) {
    String name = number % 3 == 0 ? null : "n" + number % 3 + "-" + number;
    long at = (number - 5) * DAY_MICROS + 3_600_000_000L;
    Map<Integer, Long> values = Map.of(1, 10L, 2, 10L, 3, 10L, 4, 10L, 6, 10L);
    Map<Integer, Long> nulls = Map.of(1, 0L, 2, name == null ? 10L : 0L, 3, 0L, 4, 1L, 6, 10L);
    Map<Integer, Long> nans = Map.of(4, number % 4 == 0 ? 9L : 0L);
    Map<Integer, ByteBuffer> lower = new HashMap<>(Map.of(1, bytes(Types.LongType.get(), number * 10L)));
    Map<Integer, ByteBuffer> upper = new HashMap<>(Map.of(1, bytes(Types.LongType.get(), number * 10L + 9)));
    lower.put(3, bytes(Types.TimestampType.withZone(), at));
    upper.put(3, bytes(Types.TimestampType.withZone(), at + 1_000_000));
    if (name != null) {
      lower.put(2, bytes(Types.StringType.get(), name));
      upper.put(2, bytes(Types.StringType.get(), name));
    }
    if (number % 4 != 0) {
      lower.put(4, bytes(Types.DoubleType.get(), number / 2.0));
      upper.put(4, bytes(Types.DoubleType.get(), number * 2.0));
    }
    DataFiles.Builder file =
        DataFiles.builder(spec)
            .withPath("/path/to/" + number + ".parquet")
            .withFileSizeInBytes(10)
            .withMetrics(new Metrics(10L, null, values, nulls, nans, lower, upper));
    if (spec.isPartitioned()) {
      String cut = name == null ? "null" : name.substring(0, 2);
      LocalDate date = LocalDate.ofEpochDay(number - 5);
      file.withPartitionPath("id_bucket=" + number % 4 + "/name_trunc=" + cut + "/at_day=" + date);
    }
    return file.build();
  }

  private static ByteBuffer bytes(Type type, Object value) {
    return Conversions.toByteBuffer(type, value);
  }

  private static List<Expression> filters() {
    List<Expression> filters = new ArrayList<>(List.of(alwaysTrue(), not(alwaysTrue())));
    for (long id : new long[] {-1, 15, 39}) {
      filters.addAll(List.of(lessThan("id", id), lessThanOrEqual("id", id), greaterThan("id", id)));
      filters.addAll(List.of(greaterThanOrEqual("id", id), equal("id", id), notEqual("id", id)));
      filters.addAll(List.of(in("id", id, id + 40), notIn("id", id, id + 1)));
    }
    for (String name : new String[] {"n", "n1", "n1-4"}) {
      filters.addAll(List.of(startsWith("name", name), notStartsWith("name", name), equal("name", name)));
      filters.addAll(List.of(greaterThan("name", name), notEqual("name", name), in("name", name, "n1-1")));
      filters.addAll(List.of(equal(truncate("name", 2), name), lessThan(truncate("name", 2), name)));
    }
    for (String at : new String[] {"1969-12-30T00:00:00+00:00", "1970-01-01T01:00:00+00:00", "1970-01-03T12:00:00+02:00"}) {
      filters.addAll(List.of(greaterThan("at", at), greaterThanOrEqual("at", at), equal("at", at), lessThan("at", at)));
      filters.addAll(List.of(lessThanOrEqual("at", at), notEqual("at", at)));
    }
    filters.addAll(List.of(equal(day("at"), "1970-01-02"), greaterThan(day("at"), "1970-01-02"), isNull(day("at"))));
    filters.addAll(List.of(equal(bucket("id", 4), 3), in(bucket("id", 4), 0, 1), equal(bucket("id", 5), 3)));
    filters.addAll(List.of(isNull("id"), notNull("id"), isNull("name"), notNull("name"), isNull("place.city")));
    filters.addAll(List.of(isNaN("ratio"), notNaN("ratio"), greaterThan("ratio", 3.25), lessThan("ratio", 1.0)));
    filters.add(and(greaterThan("id", 25L), or(isNull("name"), startsWith("name", "n2"))));
    filters.add(not(or(lessThan("id", 25L), and(notNull("name"), not(lessThan("at", "1970-01-03T00:00:00+00:00"))))));
    return filters;
  }

  /** Data file to residual and deletes. */
  private static Map<String, String> plan(TableScan scan) throws IOException {
    Map<String, String> plan = new TreeMap<>();
    try (var tasks = scan.planFiles()) {
      for (FileScanTask task : tasks) {
        TreeSet<String> deletes = new TreeSet<>();
        task.deletes().forEach(delete -> deletes.add(delete.location() + "@" + delete.contentOffset()));
        // The client does not fold the residual of a file without partition: both are brought into one form.
        Expression residual = Binder.bind(SCHEMA.asStruct(), rewriteNot(task.residual()), true);
        String other = plan.put(task.file().location(), residual + " " + task.file().partition() + deletes);
        assertThat(other).as(task.file().location()).isNull();
      }
    }
    return plan;
  }

  private void comparePlans() throws IOException {
    Table ours = remote.loadTable(TABLE);
    Table theirs = local.loadTable(TABLE);
    assertThat(ours.newScan().getClass().getSimpleName()).isEqualTo("RESTTableScan");
    int left = 0;
    for (Expression filter : filters()) {
      Map<String, String> expected = plan(theirs.newScan().filter(filter));
      Map<String, String> found = plan(ours.newScan().filter(filter));
      assertThat(found).as(filter.toString()).isEqualTo(expected);
      left += expected.size() < 12 ? 1 : 0;
    }
    assertThat(left).isGreaterThan(30);
  }

  @Test
  void partitionsAndBoundsLeaveOutTheSameFiles() throws IOException {
    fill(local, spec(), 2);
    comparePlans();
  }

  @Test
  void deletesOfVersionTwoApplyToTheSameFiles() throws IOException {
    Table table = fill(local, spec(), 2);
    PartitionSpec spec = table.spec();
    RowDelta delta = table.newRowDelta();
    delta.addDeletes(
        FileMetadata.deleteFileBuilder(spec).ofPositionDeletes().withPath("/path/to/p1.parquet").withFileSizeInBytes(10)
            .withPartition(file(spec, 1).partition()).withRecordCount(1).build());
    delta.addDeletes(
        FileMetadata.deleteFileBuilder(spec).ofPositionDeletes().withPath("/path/to/p2.parquet").withFileSizeInBytes(10)
            .withPartition(file(spec, 2).partition()).withRecordCount(1)
            .withReferencedDataFile(file(spec, 2).location()).build());
    delta.addDeletes(
        FileMetadata.deleteFileBuilder(spec).ofEqualityDeletes(1).withPath("/path/to/e1.parquet").withFileSizeInBytes(10)
            .withPartition(file(spec, 1).partition()).withRecordCount(1).build());
    delta.commit();
    table.newAppend().appendFile(file(spec, 13)).commit();
    comparePlans();
  }

  @Test
  void vectorsApplyToTheSameFilesAfterTheSpecChanged() throws IOException {
    Table table = fill(local, PartitionSpec.unpartitioned(), 3);
    PartitionSpec before = table.spec();
    RowDelta delta = table.newRowDelta();
    OutputFileFactory files = OutputFileFactory.builderFor(table, 1, 1).format(FileFormat.PUFFIN).build();
    DVFileWriter writer = new BaseDVFileWriter(files, path -> null);
    try (writer) {
      for (int number = 0; number < 7; number++) {
        writer.delete(file(before, number).location(), number, before, null);
      }
    }
    writer.result().deleteFiles().forEach(delta::addDeletes);
    delta.commit();
    table.updateSpec().addField(truncate("name", 2)).commit();
    DeleteFile everywhere =
        FileMetadata.deleteFileBuilder(before).ofEqualityDeletes(1).withPath("/path/to/e.parquet")
            .withFileSizeInBytes(10).withRecordCount(1).build();
    table.newRowDelta().addDeletes(everywhere).commit();
    table.newAppend().appendFile(
        DataFiles.builder(table.spec()).withPath("/path/to/new.parquet").withFileSizeInBytes(10).withRecordCount(1)
            .withPartitionPath("name_trunc_2=n1").build()).commit();
    assertThat(plan(remote.loadTable(TABLE).newScan())).hasSize(13);
    comparePlans();
  }

  @Test
  void statisticsAndOldSnapshotsAreSent() throws IOException {
    Table table = fill(local, spec(), 2);
    long first = table.history().get(0).snapshotId();
    assertThat(plan(remote.loadTable(TABLE).newScan().useSnapshot(first))).hasSize(4);
    try (var tasks = remote.loadTable(TABLE).newScan().includeColumnStats(List.of("id")).planFiles()) {
      for (FileScanTask task : tasks) {
        DataFile file = task.file();
        assertThat(file.valueCounts()).isEqualTo(Map.of(1, 10L));
        assertThat(file.lowerBounds().keySet()).containsExactly(1);
        assertThat(file.recordCount()).isEqualTo(10);
      }
    }
    assertThatThrownBy(() -> plan(remote.loadTable(TABLE).newScan().filter(equal("none", 1))))
        .hasMessageContaining("Cannot find field");
  }
}
