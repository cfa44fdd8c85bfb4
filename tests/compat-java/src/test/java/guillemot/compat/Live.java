package guillemot.compat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.rest.RESTCatalog;

/** The running servers: each test class has one to itself, named by a system property. */
final class Live {
  /** What the default and override tests of Iceberg's suites expect a catalog to be configured with. */
  private static final Map<String, String> SUITE_PROPERTIES =
      Map.ofEntries(
          Map.entry("table-default.default-key1", "catalog-default-key1"),
          Map.entry("table-default.default-key2", "catalog-default-key2"),
          Map.entry("table-default.override-key3", "catalog-default-key3"),
          Map.entry("table-override.override-key3", "catalog-override-key3"),
          Map.entry("table-override.override-key4", "catalog-override-key4"),
          Map.entry("view-default.key1", "catalog-default-key1"),
          Map.entry("view-default.key2", "catalog-default-key2"),
          Map.entry("view-default.key3", "catalog-default-key3"),
          Map.entry("view-override.key3", "catalog-override-key3"),
          Map.entry("view-override.key4", "catalog-override-key4"));

  private Live() {}

  /** Where the server of a test class is. */
  static String uri(Class<?> test) {
    return setting("guillemot." + test.getSimpleName());
  }

  /** The folder of the warehouse of a test class's server. */
  static Path warehouse(Class<?> test) {
    return Path.of(setting("guillemot." + test.getSimpleName() + ".warehouse"));
  }

  /** A folder that every server accepts as a place of tables; it is also Java's folder for temporary files. */
  static Path folder() {
    return Path.of(setting("guillemot.folder"));
  }

  private static String setting(String name) {
    String value = System.getProperty(name);
    if (value == null) {
      throw new IllegalStateException(name + " is not set: run this by `make compat`");
    }
    return value;
  }

  /** A client of the class's server, as Iceberg's suites want it. */
  static RESTCatalog suite(Class<?> test, Map<String, String> more) {
    Map<String, String> properties = new HashMap<>(SUITE_PROPERTIES);
    properties.putAll(more);
    return connect(uri(test), properties);
  }

  /** A client of the server at `uri`. */
  static RESTCatalog connect(String uri, Map<String, String> more) {
    Map<String, String> properties = new HashMap<>(Map.of(CatalogProperties.URI, uri));
    properties.putAll(more);
    RESTCatalog catalog = new RESTCatalog();
    catalog.setConf(new Configuration());
    catalog.initialize("guillemot", properties);
    return catalog;
  }

  /** Drops everything. */
  static void empty(RESTCatalog catalog) {
    emptyBelow(catalog, catalog.listNamespaces());
  }

  private static void emptyBelow(RESTCatalog catalog, List<Namespace> namespaces) {
    for (Namespace namespace : namespaces) {
      emptyBelow(catalog, catalog.listNamespaces(namespace));
      catalog.listTables(namespace).forEach(table -> catalog.dropTable(table, false));
      catalog.listViews(namespace).forEach(catalog::dropView);
      catalog.dropNamespace(namespace);
    }
  }
}
