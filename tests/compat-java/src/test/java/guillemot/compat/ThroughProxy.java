package guillemot.compat;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What tests of the client's own behaviour stand on: a client whose requests pass a proxy, and one beside it. */
abstract class ThroughProxy {
  static final Namespace NS = Namespace.of("ns");
  static final TableIdentifier TABLE = TableIdentifier.of(NS, "tbl");
  static final String TABLE_PATH = "/namespaces/ns/tables/tbl";
  static final Schema SCHEMA =
      new Schema(
          Types.NestedField.required(1, "id", Types.LongType.get()),
          Types.NestedField.optional(2, "data", Types.StringType.get()));

  Proxy proxy;

  /** Its requests pass the proxy. */
  RESTCatalog catalog;

  /** Its requests do not. */
  RESTCatalog other;

  @BeforeEach
  void connect() throws IOException {
    proxy = new Proxy(Live.uri(getClass()));
    catalog = client(Map.of());
    other = Live.connect(Live.uri(getClass()), Map.of("rest-metrics-reporting-enabled", "false"));
    Live.empty(other);
    other.createNamespace(NS);
  }

  @AfterEach
  void close() throws IOException {
    catalog.close();
    other.close();
    proxy.close();
  }

  /** A client behind the proxy with more properties. Reports of metrics would come at any time, so there are none. */
  RESTCatalog client(Map<String, String> more) {
    Map<String, String> properties = new HashMap<>(Map.of("rest-metrics-reporting-enabled", "false"));
    properties.putAll(more);
    return Live.connect(proxy.uri(), properties);
  }

  /** A data file that is only named: no catalog looks into data files. */
  static DataFile file(String name) {
    return DataFiles.builder(PartitionSpec.unpartitioned())
        .withPath("/path/to/" + name + ".parquet")
        .withFileSizeInBytes(10)
        .withRecordCount(2)
        .build();
  }
}
