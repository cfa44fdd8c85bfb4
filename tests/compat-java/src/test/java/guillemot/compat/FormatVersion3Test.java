package guillemot.compat;

import static org.apache.iceberg.types.Types.NestedField.optional;
import static org.apache.iceberg.types.Types.NestedField.required;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableUtil;
import org.apache.iceberg.deletes.BaseDVFileWriter;
import org.apache.iceberg.deletes.DVFileWriter;
import org.apache.iceberg.exceptions.BadRequestException;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.io.OutputFileFactory;
import org.apache.iceberg.relocated.com.google.common.collect.Iterables;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.Test;

/** Format version 3 as the Java client uses it. The first three are in Iceberg's tests from 1.12 on. */
class FormatVersion3Test extends ThroughProxy {
  private static final Map<String, String> V3 = Map.of("format-version", "3");

  private Table create(Schema schema) {
    return catalog.createTable(TABLE, schema, PartitionSpec.unpartitioned(), V3);
  }

  private TableMetadata stored() {
    return ((BaseTable) other.loadTable(TABLE)).operations().current();
  }

  @Test
  void aTableIsCreatedWithVariantColumns() {
    create(
        new Schema(
            required(10, "id", Types.LongType.get()),
            optional(11, "v", Types.VariantType.get()),
            optional(12, "list", Types.ListType.ofOptional(13, Types.VariantType.get())),
            optional(14, "map", Types.MapType.ofOptional(15, 16, Types.StringType.get(), Types.VariantType.get())),
            optional(17, "struct", Types.StructType.of(optional(18, "v", Types.VariantType.get())))));
    Schema fresh =
        new Schema(
            required(1, "id", Types.LongType.get()),
            optional(2, "v", Types.VariantType.get()),
            optional(3, "list", Types.ListType.ofOptional(6, Types.VariantType.get())),
            optional(4, "map", Types.MapType.ofOptional(7, 8, Types.StringType.get(), Types.VariantType.get())),
            optional(5, "struct", Types.StructType.of(optional(9, "v", Types.VariantType.get()))));
    assertThat(stored().schema().asStruct()).isEqualTo(fresh.asStruct());
    assertThat(stored().formatVersion()).isEqualTo(3);
  }

  @Test
  void versionTwoHasNoVariantColumns() {
    Schema schema = new Schema(required(1, "id", Types.LongType.get()), optional(2, "v", Types.VariantType.get()));
    assertThatThrownBy(() -> catalog.createTable(TABLE, schema))
        .hasMessageContaining("variant is not supported until v3");
    assertThat(catalog.tableExists(TABLE)).isFalse();
  }

  @Test
  void aVariantColumnIsAdded() {
    create(SCHEMA).updateSchema().addColumn("v", Types.VariantType.get()).commit();
    assertThat(stored().schema().findType("v")).isEqualTo(Types.VariantType.get());
  }

  @Test
  void everyTypeOfVersionThreeIsKept() {
    Schema schema =
        new Schema(
            required(1, "id", Types.LongType.get()),
            optional(2, "timestamp_ns", Types.TimestampNanoType.withoutZone()),
            optional(3, "timestamptz_ns", Types.TimestampNanoType.withZone()),
            optional(4, "unknown", Types.UnknownType.get()),
            optional(5, "geometry", Types.GeometryType.crs84()),
            optional(6, "geometry_3857", Types.GeometryType.of("EPSG:3857")),
            optional(7, "geography", Types.GeographyType.crs84()),
            optional(8, "variant", Types.VariantType.get()),
            optional(9, "decimal", Types.DecimalType.of(38, 10)));
    create(schema);
    assertThat(stored().schema().asStruct()).isEqualTo(schema.asStruct());
  }

  @Test
  void defaultValuesAreKept() {
    Table table =
        create(
            new Schema(
                Types.NestedField.required("id").withId(1).ofType(Types.LongType.get()).build(),
                Types.NestedField.optional("s").withId(2).ofType(Types.StringType.get())
                    .withInitialDefault(Literal.of("é")).withWriteDefault(Literal.of("w")).build()));
    table.updateSchema().addColumn("n", Types.IntegerType.get(), "with a default", Literal.of(34)).commit();
    table.updateSchema().updateColumnDefault("n", Literal.of(35)).commit();
    Schema schema = stored().schema();
    assertThat(schema.findField("s").initialDefault()).isEqualTo("é");
    assertThat(schema.findField("s").writeDefault()).isEqualTo("w");
    assertThat(schema.findField("n").initialDefault()).isEqualTo(34);
    assertThat(schema.findField("n").writeDefault()).isEqualTo(35);
  }

  @Test
  void rowsGetTheirIds() {
    Table table = create(SCHEMA);
    table.newAppend().appendFile(file("a")).appendFile(file("b")).commit();
    table.newFastAppend().appendFile(file("c")).commit();
    Snapshot last = other.loadTable(TABLE).currentSnapshot();
    assertThat(List.of(last.firstRowId(), last.addedRows(), stored().nextRowId())).containsExactly(4L, 2L, 6L);
  }

  @Test
  void aTableOfVersionTwoBecomesOneOfVersionThree() {
    Table table = catalog.createTable(TABLE, SCHEMA);
    table.newAppend().appendFile(file("a")).commit();
    table.updateProperties().set("format-version", "3").commit();
    assertThat(TableUtil.formatVersion(other.loadTable(TABLE))).isEqualTo(3);
    assertThat(stored().nextRowId()).isZero();
    table.newAppend().appendFile(file("b")).commit();
    assertThat(stored().nextRowId()).isGreaterThanOrEqualTo(2);
    assertThat(other.loadTable(TABLE).newScan().planFiles()).hasSize(2);
  }

  @Test
  void aDeletionVectorIsAddedAndReplaced() throws IOException {
    Table table = create(SCHEMA);
    DataFile data = file("a");
    table.newAppend().appendFile(data).commit();
    DeleteFile first = vector(table, data, 0);
    table.newRowDelta().addDeletes(first).commit();
    assertThat(deletes()).extracting(DeleteFile::location).containsExactly(first.location());

    DeleteFile second = vector(table, data, 0, 1);
    RowDelta delta = table.newRowDelta().addDeletes(second).removeDeletes(first);
    delta.validateFromSnapshot(table.currentSnapshot().snapshotId()).commit();
    assertThat(deletes()).extracting(DeleteFile::location).containsExactly(second.location());
  }

  @Test
  void aDeletionVectorBeyondItsDataFileIsRefused() throws IOException {
    Table table = create(SCHEMA);
    DataFile data = file("a");
    table.newAppend().appendFile(data).commit();
    DeleteFile beyond = vector(table, data, 0, 7);
    assertThatThrownBy(() -> table.newRowDelta().addDeletes(beyond).commit())
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining(beyond.location());
    assertThat(deletes()).isEmpty();
    assertThat(table.io().newInputFile(data.location()).exists()).isFalse();
  }

  private static DeleteFile vector(Table table, DataFile data, long... positions) throws IOException {
    OutputFileFactory files = OutputFileFactory.builderFor(table, 1, 1).format(FileFormat.PUFFIN).build();
    DVFileWriter writer = new BaseDVFileWriter(files, path -> null);
    try (writer) {
      for (long position : positions) {
        writer.delete(data.location(), position, table.spec(), null);
      }
    }
    return Iterables.getOnlyElement(writer.result().deleteFiles());
  }

  /** The delete files of the table's only data file. */
  private List<DeleteFile> deletes() throws IOException {
    try (var tasks = other.loadTable(TABLE).newScan().planFiles()) {
      FileScanTask task = Iterables.getOnlyElement(tasks);
      return task.deletes();
    }
  }
}
