package guillemot.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.BaseTransaction;
import org.apache.iceberg.Table;
import org.apache.iceberg.Transaction;
import org.apache.iceberg.catalog.TableCommit;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.Test;

/** Commits to several tables at once, and commits that meet newer ones. */
class TransactionTest extends ThroughProxy {
  private static final TableIdentifier SECOND = TableIdentifier.of(NS, "second");

  /** A transaction on a table that adds a column and a file. */
  private Transaction changed(TableIdentifier table, String column) {
    Transaction transaction = catalog.loadTable(table).newTransaction();
    transaction.updateSchema().addColumn(column, Types.LongType.get()).commit();
    transaction.newAppend().appendFile(file(column)).commit();
    return transaction;
  }

  private static TableCommit commit(TableIdentifier table, Transaction transaction) {
    BaseTransaction base = (BaseTransaction) transaction;
    return TableCommit.create(table, base.startMetadata(), base.currentMetadata());
  }

  @Test
  void severalTablesChangeTogether() {
    catalog.createTable(TABLE, SCHEMA);
    catalog.createTable(SECOND, SCHEMA);
    catalog.commitTransaction(commit(TABLE, changed(TABLE, "x")), commit(SECOND, changed(SECOND, "y")));
    assertThat(proxy.seen("POST", "/transactions/commit")).extracting(Proxy.Exchange::status).containsExactly(204);
    for (Map.Entry<TableIdentifier, String> one : Map.of(TABLE, "x", SECOND, "y").entrySet()) {
      Table table = other.loadTable(one.getKey());
      assertThat(table.schema().findField(one.getValue())).isNotNull();
      assertThat(table.newScan().planFiles()).hasSize(1);
    }
  }

  @Test
  void oneThatFailsLeavesAllAsTheyWere() {
    Table first = catalog.createTable(TABLE, SCHEMA);
    Table second = catalog.createTable(SECOND, SCHEMA);
    List<TableCommit> commits = List.of(commit(TABLE, changed(TABLE, "x")), commit(SECOND, changed(SECOND, "y")));
    second.updateSchema().renameColumn("data", "renamed").commit();
    assertThatThrownBy(() -> catalog.commitTransaction(commits))
        .isInstanceOf(CommitFailedException.class)
        .hasMessageContaining("Requirement failed: current schema changed");
    first.refresh();
    assertThat(first.currentSnapshot()).isNull();
    assertThat(first.schema().sameSchema(SCHEMA)).isTrue();

    other.dropTable(SECOND, false);
    assertThatThrownBy(() -> catalog.commitTransaction(commits)).isInstanceOf(NoSuchTableException.class);
    first.refresh();
    assertThat(first.currentSnapshot()).isNull();
  }

  @Test
  void aCommitThatMeetsANewerOneOnAnotherBranchIsAConflict() {
    // The requirements hold, but the sequence number is taken. The client must see a conflict and not a bad request:
    // it takes the next number and tries again.
    Table table = catalog.createTable(TABLE, SCHEMA);
    table.newAppend().appendFile(file("a")).commit();
    proxy.before(
        "POST", TABLE_PATH, () -> other.loadTable(TABLE).newAppend().appendFile(file("c")).toBranch("side").commit());
    table.newAppend().appendFile(file("b")).commit();
    assertThat(proxy.seen("POST", TABLE_PATH)).extracting(Proxy.Exchange::status).containsExactly(200, 409, 200);
    assertThat(proxy.seen("POST", TABLE_PATH).get(1).reply().text())
        .contains("CommitFailedException", "Validation failed, please retry: Cannot add snapshot with sequence number");
    assertThat(((BaseTable) table).operations().current().lastSequenceNumber()).isEqualTo(3);
    assertThat(table.newScan().planFiles()).hasSize(2);
  }

  @Test
  void manyClientsAppendAndNothingIsLost() throws Exception {
    catalog.createTable(TABLE, SCHEMA).updateProperties().set("commit.retry.num-retries", "30").commit();
    List<Thread> writers =
        IntStream.range(0, 4)
            .mapToObj(writer -> new Thread(() -> append(writer)))
            .collect(Collectors.toList());
    writers.forEach(Thread::start);
    for (Thread writer : writers) {
      writer.join();
    }
    assertThat(other.loadTable(TABLE).newScan().planFiles()).hasSize(20);
  }

  private void append(int writer) {
    Table table = other.loadTable(TABLE);
    for (int n = 0; n < 5; n++) {
      table.newFastAppend().appendFile(file(writer + "-" + n)).commit();
    }
  }
}
