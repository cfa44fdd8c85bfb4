package guillemot.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.iceberg.catalog.CatalogTests;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.RESTCatalog;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** Iceberg's tests of a catalog: namespaces, tables, commits, transactions. */
@TestInstance(Lifecycle.PER_CLASS)
class CatalogTest extends CatalogTests<RESTCatalog> {
  private RESTCatalog catalog;

  @BeforeAll
  void connect() {
    catalog = Live.suite(getClass(), Map.of());
    assertThat(catalog.listNamespaces()).as("the server is a fresh one").isEmpty();
  }

  @AfterAll
  void close() throws Exception {
    catalog.close();
  }

  @BeforeEach
  void empty() {
    Live.empty(catalog);
  }

  @Override
  protected RESTCatalog catalog() {
    return catalog;
  }

  @Override
  protected RESTCatalog initCatalog(String name, Map<String, String> more) {
    return Live.suite(getClass(), more);
  }

  @Override
  protected String baseTableLocation(TableIdentifier table) {
    return "file:" + Live.folder() + "/" + table.namespace() + "/" + table.name();
  }

  @Override
  protected boolean supportsNestedNamespaces() {
    return true;
  }

  @Override
  protected boolean requiresNamespaceCreate() {
    return true;
  }

  @Override
  protected boolean supportsServerSideRetry() {
    return true;
  }

  @Override
  protected boolean supportsNamesWithSlashes() {
    return true;
  }

  @Override
  protected boolean supportsNamesWithDot() {
    return true;
  }

  // A namespace has at least one level: no client of the REST protocol can name another.
  @Override
  protected boolean supportsEmptyNamespace() {
    return false;
  }
}
