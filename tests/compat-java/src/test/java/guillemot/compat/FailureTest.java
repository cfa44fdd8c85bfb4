package guillemot.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import guillemot.compat.Proxy.Fault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.BaseTransaction;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.Transaction;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableCommit;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.exceptions.RESTException;
import org.apache.iceberg.relocated.com.google.common.collect.ImmutableMap;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.view.View;
import org.junit.jupiter.api.Test;

/** Requests that do not go through, and replies that do not arrive: what the client and the server make of them. */
class FailureTest extends ThroughProxy {
  @Test
  void aRequestThatMet503IsSentAgain() {
    proxy.harm("POST", "/tables", Fault.UNAVAILABLE, Fault.UNAVAILABLE);
    Table table = catalog.createTable(TABLE, SCHEMA);
    List<Proxy.Exchange> sent = proxy.seen("POST", "/tables");
    assertThat(sent).extracting(Proxy.Exchange::status).containsExactly(503, 503, 200);
    assertThat(sent).extracting(e -> e.request().text()).containsOnly(sent.get(0).request().text());

    proxy.harm("POST", TABLE_PATH, Fault.UNAVAILABLE);
    table.newAppend().appendFile(file("a")).commit();
    proxy.harm("GET", TABLE_PATH, Fault.UNAVAILABLE);
    assertThat(catalog.loadTable(TABLE).currentSnapshot()).isEqualTo(table.currentSnapshot());
  }

  @Test
  void aServerWithoutItsStorageAsksToComeBack() throws Exception {
    Path warehouse = Live.warehouse(getClass());
    Path away = warehouse.resolveSibling("away");
    Files.createDirectories(warehouse);
    Files.move(warehouse, away);
    Files.createFile(warehouse);
    Thread repair = new Thread(() -> repairAfterFirst503(warehouse, away));
    repair.start();
    catalog.createTable(TABLE, SCHEMA);
    repair.join();

    List<Proxy.Exchange> sent = proxy.seen("POST", "/tables");
    assertThat(sent).extracting(Proxy.Exchange::status).endsWith(200).startsWith(503).hasSizeLessThan(6);
    assertThat(sent.get(0).reply().header("retry-after")).isEqualTo("1");
    assertThat(other.tableExists(TABLE)).isTrue();
  }

  private void repairAfterFirst503(Path warehouse, Path away) {
    try {
      while (proxy.seen("POST", "/tables").isEmpty()) {
        Thread.sleep(10);
      }
      Files.delete(warehouse);
      Files.move(away, warehouse);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aLoadWhoseConnectionWasCutIsSentAgain() {
    other.createTable(TABLE, SCHEMA);
    proxy.harm("GET", TABLE_PATH, Fault.CUT_AFTERWARDS);
    assertThat(catalog.loadTable(TABLE).schema().sameSchema(SCHEMA)).isTrue();
    assertThat(proxy.seen("GET", TABLE_PATH)).extracting(Proxy.Exchange::status).containsExactly(0, 200);
  }

  @Test
  void aCommitWhoseReplyWasLostIsFoundAgain() {
    Table table = catalog.createTable(TABLE, SCHEMA);
    proxy.harm("POST", TABLE_PATH, Fault.BAD_GATEWAY_AFTERWARDS);
    table.newAppend().appendFile(file("a")).commit();
    assertThat(proxy.seen("POST", TABLE_PATH)).as("the client looks, and does not commit twice").hasSize(1);
    assertReadable(1);
  }

  @Test
  void aCommitWhoseConnectionWasCutHappenedAndKeepsItsFiles() {
    Table table = catalog.createTable(TABLE, SCHEMA);
    proxy.harm("POST", TABLE_PATH, Fault.CUT_AFTERWARDS);
    assertThatThrownBy(() -> table.newAppend().appendFile(file("a")).commit())
        .isInstanceOfAny(RESTException.class, CommitStateUnknownException.class);
    assertThat(proxy.seen("POST", TABLE_PATH)).hasSize(1);
    assertReadable(1);
    // The table is in order: the next commit builds on the lost one.
    table.refresh();
    table.newAppend().appendFile(file("b")).commit();
    assertReadable(2);
  }

  @Test
  void aTransactionWhoseReplyWasLostHappenedAndKeepsItsFiles() {
    Table table = catalog.createTable(TABLE, SCHEMA);
    proxy.harm("POST", TABLE_PATH, Fault.BAD_GATEWAY_AFTERWARDS);
    assertThatThrownBy(
            () -> {
              Transaction both = table.newTransaction();
              both.updateSchema().addColumn("more", Types.LongType.get()).commit();
              both.newAppend().appendFile(file("a")).commit();
              both.commitTransaction();
            })
        .isInstanceOf(CommitStateUnknownException.class);
    assertReadable(1);
    assertThat(other.loadTable(TABLE).schema().findField("more")).isNotNull();
  }

  /** Each file of the table's snapshots is there, and the data files are as many as were added. */
  private void assertReadable(int dataFiles) {
    Table table = other.loadTable(TABLE);
    assertThat(table.newScan().planFiles()).hasSize(dataFiles);
    for (Snapshot snapshot : table.snapshots()) {
      assertThat(table.io().newInputFile(snapshot.manifestListLocation()).exists()).isTrue();
      for (ManifestFile manifest : snapshot.allManifests(table.io())) {
        assertThat(table.io().newInputFile(manifest.path()).exists()).isTrue();
      }
    }
  }

  @Test
  void aMutationThatIsSentTwiceHappensOnce() {
    assertThat(proxy.seen("GET", "/v1/config").get(0).reply().text()).contains("\"idempotency-key-lifetime\"");
    Namespace more = Namespace.of("more");
    proxy.harm("POST", "/namespaces", Fault.UNAVAILABLE_AFTERWARDS);
    catalog.createNamespace(more);
    assertReplayed("POST", "/namespaces");

    proxy.harm("POST", "/tables", Fault.UNAVAILABLE_AFTERWARDS);
    Table table = catalog.createTable(TABLE, SCHEMA);
    assertReplayed("POST", "/tables");

    proxy.harm("POST", TABLE_PATH, Fault.UNAVAILABLE_AFTERWARDS);
    table.newAppend().appendFile(file("a")).commit();
    assertReplayed("POST", TABLE_PATH);
    assertReadable(1);

    TableIdentifier moved = TableIdentifier.of(more, "moved");
    proxy.harm("POST", "/tables/rename", Fault.UNAVAILABLE_AFTERWARDS);
    catalog.renameTable(TABLE, moved);
    assertReplayed("POST", "/tables/rename");

    // A DELETE is sent again after a lost connection too; the second must not say that there was nothing.
    proxy.harm("DELETE", "/tables/moved", Fault.CUT_AFTERWARDS);
    assertThat(catalog.dropTable(moved, false)).isTrue();
    assertReplayed("DELETE", "/tables/moved");
    proxy.harm("DELETE", "/namespaces/more", Fault.UNAVAILABLE_AFTERWARDS);
    assertThat(catalog.dropNamespace(more)).isTrue();
    assertReplayed("DELETE", "/namespaces/more");
  }

  @Test
  void aMutationOfOtherKindsThatIsSentTwiceHappensOnce() {
    Fault lost = Fault.UNAVAILABLE_AFTERWARDS;
    proxy.harm("POST", "/namespaces/ns/properties", lost);
    catalog.setProperties(NS, ImmutableMap.of("key", "value"));
    assertReplayed("POST", "/namespaces/ns/properties");

    Table table = catalog.createTable(TABLE, SCHEMA);
    BaseTransaction change = (BaseTransaction) table.newTransaction();
    change.newAppend().appendFile(file("a")).commit();
    proxy.harm("POST", "/transactions/commit", lost);
    catalog.commitTransaction(TableCommit.create(TABLE, change.startMetadata(), change.currentMetadata()));
    assertReplayed("POST", "/transactions/commit");
    assertReadable(1);

    table.refresh();
    String file = ((BaseTable) table).operations().current().metadataFileLocation();
    catalog.dropTable(TABLE, false);
    proxy.harm("POST", "/namespaces/ns/register", lost);
    catalog.registerTable(TABLE, file);
    assertReplayed("POST", "/namespaces/ns/register");

    TableIdentifier name = TableIdentifier.of(NS, "v");
    proxy.harm("POST", "/views", lost);
    View view = catalog.buildView(name).withSchema(SCHEMA).withDefaultNamespace(NS).withQuery("sql", "x").create();
    assertReplayed("POST", "/views");
    proxy.harm("POST", "/views/v", lost);
    view.updateProperties().set("key", "value").commit();
    assertReplayed("POST", "/views/v");
    assertThat(other.loadView(name).properties()).containsEntry("key", "value");
    proxy.harm("POST", "/views/rename", lost);
    catalog.renameView(name, TableIdentifier.of(NS, "w"));
    assertReplayed("POST", "/views/rename");
    proxy.harm("DELETE", "/views/w", lost);
    assertThat(catalog.dropView(TableIdentifier.of(NS, "w"))).isTrue();
    assertReplayed("DELETE", "/views/w");
  }

  /** The two last requests were one request, sent twice with one key, and the second was answered as a success. */
  private void assertReplayed(String method, String pathEnd) {
    List<Proxy.Exchange> sent = proxy.seen(method, pathEnd);
    List<Proxy.Exchange> two = sent.subList(sent.size() - 2, sent.size());
    Set<String> keys = two.stream().map(e -> e.request().header("idempotency-key")).collect(Collectors.toSet());
    assertThat(keys).hasSize(1).doesNotContainNull();
    assertThat(two.get(0).fault()).isNotNull();
    assertThat(two.get(1).status()).isIn(200, 204);
  }
}
