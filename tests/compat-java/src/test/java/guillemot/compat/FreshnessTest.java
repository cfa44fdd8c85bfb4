package guillemot.compat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.relocated.com.google.common.collect.Lists;
import org.junit.jupiter.api.Test;

/** What a client does not load again: tables that it holds, and snapshots that no branch or tag points to. */
class FreshnessTest extends ThroughProxy {
  /** The loads that passed. */
  private List<Proxy.Exchange> loads() {
    return proxy.seen("GET", TABLE_PATH);
  }

  @Test
  void aTableThatTheClientHoldsIsNotSentAgain() {
    other.createTable(TABLE, SCHEMA);
    Table first = catalog.loadTable(TABLE);
    Table second = catalog.loadTable(TABLE);

    assertThat(loads()).extracting(Proxy.Exchange::status).containsExactly(200, 304);
    Proxy.Exchange full = loads().get(0);
    Proxy.Exchange same = loads().get(1);
    // The map keeps the letters: this client finds the header only if it is named exactly so.
    assertThat(full.reply().headers()).containsKey("ETag");
    assertThat(same.request().header("if-none-match")).isEqualTo(full.reply().headers().get("ETag"));
    assertThat(same.reply().body()).isEmpty();
    assertThat(second.uuid()).isEqualTo(first.uuid());
    assertThat(metadataLocation(second)).isEqualTo(metadataLocation(first));
  }

  @Test
  void eachReplyThatHoldsATableHasTheTagOfItsVersion() {
    Table table = catalog.createTable(TABLE, SCHEMA);
    catalog.loadTable(TABLE);
    table.updateProperties().set("key", "value").commit();
    catalog.loadTable(TABLE);
    String created = proxy.seen("POST", "/tables").get(0).reply().headers().get("ETag");
    String changed = proxy.seen("POST", TABLE_PATH).get(0).reply().headers().get("ETag");
    assertThat(created).isNotEmpty().isNotEqualTo(changed);
    // The second load is the refresh before the commit.
    assertThat(loads()).extracting(load -> load.reply().headers().get("ETag")).containsExactly(created, created, changed);
  }

  @Test
  void aTableThatAnotherClientChangedIsSentAgain() {
    Table made = other.createTable(TABLE, SCHEMA);
    catalog.loadTable(TABLE);
    made.newAppend().appendFile(file("a")).commit();
    Table changed = catalog.loadTable(TABLE);
    assertThat(changed.currentSnapshot().snapshotId()).isEqualTo(made.currentSnapshot().snapshotId());
    made.updateProperties().set("key", "value").commit();
    assertThat(catalog.loadTable(TABLE).properties()).containsEntry("key", "value");
    assertThat(catalog.loadTable(TABLE).properties()).containsEntry("key", "value");
    assertThat(loads()).extracting(Proxy.Exchange::status).containsExactly(200, 200, 200, 304);
  }

  @Test
  void aTableThatWasDroppedIsNotThere() {
    other.createTable(TABLE, SCHEMA);
    catalog.loadTable(TABLE);
    other.dropTable(TABLE, false);
    assertThat(catalog.tableExists(TABLE)).isFalse();
    Table again = other.createTable(TABLE, SCHEMA);
    assertThat(catalog.loadTable(TABLE).uuid()).isEqualTo(again.uuid());
  }

  @Test
  void aCommitOnATableThatWas304Works() {
    catalog.createTable(TABLE, SCHEMA);
    Table held = catalog.loadTable(TABLE);
    held.newAppend().appendFile(file("a")).commit();
    assertThat(other.loadTable(TABLE).currentSnapshot().snapshotId()).isEqualTo(held.currentSnapshot().snapshotId());
  }

  @Test
  void snapshotsThatNoRefPointsToAreLoadedWhenAskedFor() throws Exception {
    Table made = other.createTable(TABLE, SCHEMA);
    for (String name : List.of("a", "b", "c", "d")) {
      made.newAppend().appendFile(file(name)).commit();
    }
    List<Snapshot> all = Lists.newArrayList(made.snapshots());
    made.manageSnapshots().createTag("second", all.get(1).snapshotId()).commit();

    try (RESTCatalog lazy = client(Map.of("snapshot-loading-mode", "REFS"))) {
      Table table = lazy.loadTable(TABLE);
      assertThat(loads()).hasSize(1);
      assertThat(loads().get(0).path()).contains("snapshots=refs");
      assertThat(snapshotsSent(loads().get(0))).isEqualTo(2);
      assertThat(table.currentSnapshot()).isEqualTo(all.get(3));
      assertThat(table.refs()).containsOnlyKeys("main", "second");
      assertThat(table.history()).hasSize(4);
      assertThat(loads()).as("references are enough for these").hasSize(1);

      assertThat(table.snapshot(all.get(0).snapshotId())).isEqualTo(all.get(0));
      assertThat(table.snapshots()).containsExactlyElementsOf(all);
      assertThat(loads()).hasSize(2);
      assertThat(loads().get(1).path()).contains("snapshots=all");
      assertThat(snapshotsSent(loads().get(1))).isEqualTo(4);

      proxy.forget();
      assertThat(lazy.loadTable(TABLE).currentSnapshot()).isEqualTo(all.get(3));
      assertThat(loads()).extracting(Proxy.Exchange::status).containsExactly(304);
    }
  }

  @Test
  void aTableLoadedByItsRefsCanBeChanged() throws Exception {
    Table made = other.createTable(TABLE, SCHEMA);
    made.newAppend().appendFile(file("a")).commit();
    made.newAppend().appendFile(file("b")).commit();
    made.newAppend().appendFile(file("c")).toBranch("side").commit();
    try (RESTCatalog lazy = client(Map.of("snapshot-loading-mode", "REFS"))) {
      Table table = lazy.loadTable(TABLE);
      table.newAppend().appendFile(file("d")).commit();
      table.newAppend().appendFile(file("e")).toBranch("side").commit();
      table.expireSnapshots().expireOlderThan(System.currentTimeMillis() + 1000).retainLast(1).commit();
    }
    made.refresh();
    assertThat(made.refs()).containsOnlyKeys("main", "side");
    assertThat(made.newScan().planFiles()).hasSize(3);
    assertThat(made.newScan().useRef("side").planFiles()).hasSize(4);
  }

  private static int snapshotsSent(Proxy.Exchange load) {
    return load.reply().text().split("\"manifest-list\"", -1).length - 1;
  }

  private static String metadataLocation(Table table) {
    return ((HasTableOperations) table).operations().current().metadataFileLocation();
  }
}
