package guillemot.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.iceberg.MetadataTableType;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.relocated.com.google.common.collect.ImmutableMap;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.view.View;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the client writes names into paths, finds things, and walks through lists. */
class NamesTest extends ThroughProxy {
  @ParameterizedTest
  @ValueSource(strings = {"a b", "a+b", "a%2Fb", "a/b", "a.b", "a?b#c&d=e;f", "\"q\"", "äö", "日本 🪶", "A", "%", "~_-*"})
  void anyNameIsANameOfNamespacesTablesAndViews(String name) {
    Namespace inner = Namespace.of(name, name);
    catalog.createNamespace(Namespace.of(name));
    catalog.createNamespace(inner, ImmutableMap.of(name, name));
    assertThat(catalog.listNamespaces()).contains(Namespace.of(name));
    assertThat(catalog.listNamespaces(Namespace.of(name))).containsExactly(inner);
    assertThat(catalog.loadNamespaceMetadata(inner)).containsEntry(name, name);
    assertThat(catalog.namespaceExists(inner)).isTrue();

    TableIdentifier table = TableIdentifier.of(inner, name);
    Table made = catalog.createTable(table, SCHEMA);
    made.newAppend().appendFile(file("a")).commit();
    assertThat(other.loadTable(table).currentSnapshot()).isEqualTo(made.currentSnapshot());
    TableIdentifier renamed = TableIdentifier.of(inner, name + name);
    catalog.renameTable(table, renamed);
    assertThat(catalog.tableExists(table)).isFalse();
    assertThat(catalog.listTables(inner)).containsExactly(renamed);

    View view = catalog.buildView(table).withSchema(SCHEMA).withDefaultNamespace(inner).withQuery("sql", "x").create();
    assertThat(other.loadView(table).uuid()).isEqualTo(view.uuid());
    assertThat(catalog.listViews(inner)).containsExactly(table);
    assertThat(catalog.dropView(table)).isTrue();
    assertThat(catalog.dropTable(renamed, false)).isTrue();
    assertThat(catalog.dropNamespace(inner)).isTrue();
  }

  @Test
  void namesThatDifferInCaseAreDifferent() {
    catalog.createTable(TABLE, SCHEMA);
    TableIdentifier upper = TableIdentifier.of(NS, "TBL");
    assertThat(catalog.tableExists(upper)).isFalse();
    Table second = catalog.createTable(upper, SCHEMA);
    assertThat(second.location()).isNotEqualTo(catalog.loadTable(TABLE).location());
  }

  @Test
  void whetherSomethingExistsIsAskedWithoutLoadingIt() {
    catalog.createTable(TABLE, SCHEMA);
    proxy.forget();
    assertThat(catalog.tableExists(TABLE)).isTrue();
    assertThat(catalog.viewExists(TABLE)).isFalse();
    assertThat(catalog.namespaceExists(NS)).isTrue();
    assertThat(proxy.seen()).extracting(Proxy.Exchange::method).containsOnly("HEAD").hasSize(3);
  }

  @Test
  void metadataTablesAreFoundUnderTheirTable() {
    catalog.createTable(TABLE, SCHEMA).newAppend().appendFile(file("a")).commit();
    for (MetadataTableType type : MetadataTableType.values()) {
      Table table = catalog.loadTable(TableIdentifier.of("ns", "tbl", type.name().toLowerCase(Locale.ROOT)));
      assertThat(table.name()).endsWith("tbl." + type.name().toLowerCase(Locale.ROOT));
    }
  }

  @Test
  void listsComeInPages() throws Exception {
    for (String name : List.of("a", "b", "c", "d", "e")) {
      TableIdentifier ident = TableIdentifier.of(NS, name);
      other.createNamespace(Namespace.of("ns", name));
      other.createTable(ident, SCHEMA);
      TableIdentifier view = TableIdentifier.of(NS, name + "-view");
      other.buildView(view).withSchema(SCHEMA).withDefaultNamespace(NS).withQuery("sql", "x").create();
    }
    try (RESTCatalog paged = client(Map.of("rest-page-size", "2"))) {
      assertThat(paged.listNamespaces(NS)).containsExactlyElementsOf(other.listNamespaces(NS)).hasSize(5);
      assertThat(proxy.seen("GET", "/namespaces")).hasSize(3);
      assertThat(paged.listTables(NS)).containsExactlyElementsOf(other.listTables(NS)).hasSize(5);
      assertThat(proxy.seen("GET", "/namespaces/ns/tables")).hasSize(3);
      assertThat(paged.listViews(NS)).containsExactlyElementsOf(other.listViews(NS)).hasSize(5);
      assertThat(proxy.seen("GET", "/namespaces/ns/views")).hasSize(3);
    }
    assertThat(catalog.listTables(NS)).as("without a page size all come at once").hasSize(5);
    assertThat(proxy.seen("GET", "/namespaces/ns/tables")).hasSize(4);
  }

  @Test
  void aWarehouseIsFoundByNameAndByLocation() throws Exception {
    for (String named : List.of("default", "file://" + Live.warehouse(getClass()))) {
      try (RESTCatalog found = client(Map.of("warehouse", named))) {
        assertThat(found.listNamespaces()).containsExactly(NS);
      }
    }
    assertThatThrownBy(() -> client(Map.of("warehouse", "nowhere")))
        .hasMessageContaining("Warehouse does not exist: nowhere");
  }
}
