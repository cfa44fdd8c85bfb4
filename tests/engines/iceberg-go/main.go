// The REST catalog client, the writer and the reader of iceberg-go.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	_ "github.com/apache/iceberg-go/io/gocloud/gcs"
	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/view"
)

const namespace = "golang"

var (
	ctx    = context.Background()
	lake   *rest.Catalog
	schema = iceberg.NewSchema(0,
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64},
		iceberg.NestedField{ID: 2, Name: "city", Type: iceberg.PrimitiveTypes.String})
	columns = arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
)

func main() {
	step("config", func() []proof {
		lake = must(rest.NewCatalog(ctx, "lake", os.Getenv("CATALOG_URI"),
			rest.WithWarehouseLocation(os.Getenv("CATALOG_WAREHOUSE")), rest.WithCredential(os.Getenv("CATALOG_CREDENTIAL"))))
		return nil
	})
	step("namespace", func() []proof {
		check(lake.CreateNamespace(ctx, table.Identifier{namespace}, nil))
		same(must(lake.CheckNamespaceExists(ctx, table.Identifier{namespace})), true)
		return nil
	})
	step("create", func() []proof {
		create("t", 3)
		return []proof{{Table: namespace + ".t", Version: 3}}
	})
	step("insert", func() []proof {
		insert("t", 0, 100)
		insert("t", 100, 50)
		return now("t", 150, 0)
	})
	step("delete", func() []proof {
		remove("t", 7)
		remove("t", 8)
		return now("t", 148, 1)
	})
	fault("update", func() []proof {
		create("changed", 3)
		insert("changed", 0, 100)
		remove("changed", 7)
		same(live(load("changed"), ""), 99)
		_ = must(load("changed").Overwrite(ctx, rows(9, 1), nil, table.WithOverwriteFilter(equal(9))))
		if found := live(load("changed"), ""); found != 99 {
			panic(fmt.Sprintf("of 99 rows and a deleted one, %d are there after one of them was overwritten: "+
				"the data file was written anew without its deletion vector", found))
		}
		return now("changed", 99, -1)
	})
	absent("merge", func() []proof { panic("iceberg-go has neither MERGE nor upsert") })
	step("read", func() []proof {
		for _, history := range strings.Fields(os.Getenv("HISTORIES")) {
			count(history, func() int64 { return live(must(lake.LoadTable(ctx, table.Identifier{"history", history})), "") })
		}
		same(live(load("t"), ""), 148)
		return nil
	})
	step("schema", func() []proof {
		tx := load("t").NewTransaction()
		check(tx.UpdateSchema(true, false).
			AddColumn([]string{"zip"}, iceberg.PrimitiveTypes.Int32, "", false, nil).
			RenameColumn([]string{"city"}, "town").Commit())
		t := must(tx.Commit(ctx))
		_, renamed := t.Schema().FindFieldByName("town")
		same(renamed, true)
		tx = t.NewTransaction()
		check(tx.UpdateSchema(true, false).DeleteColumn([]string{"zip"}).RenameColumn([]string{"town"}, "city").Commit())
		_ = must(tx.Commit(ctx))
		return now("t", 148, -1)
	})
	step("partition", func() []proof {
		tx := load("t").NewTransaction()
		check(tx.UpdateSpec(true).AddField("id", iceberg.BucketTransform{NumBuckets: 4}, "id_bucket").Commit())
		_ = must(tx.Commit(ctx))
		insert("t", 150, 10)
		return now("t", 158, -1)
	})
	step("upgrade", func() []proof {
		create("old", 2)
		insert("old", 0, 20)
		remove("old", 3)
		tx := load("old").NewTransaction()
		check(tx.UpgradeFormatVersion(3))
		_ = must(tx.Commit(ctx))
		remove("old", 4)
		found := now("old", 18, -1)
		found[0].Version = 3
		return found
	})
	step("refs", func() []proof {
		t := load("t")
		first := t.Metadata().Snapshots()[0].SnapshotID
		head := t.CurrentSnapshot().SnapshotID
		_, _ = must2(lake.CommitTable(ctx, t.Identifier(), nil, []table.Update{
			table.NewSetSnapshotRefUpdate("audit", head, table.BranchRef, 0, 0, 0),
			table.NewSetSnapshotRefUpdate("first", first, table.TagRef, 0, 0, 0)}))
		tx := must(load("t").NewTransactionOnBranchWithError("audit"))
		check(tx.Append(ctx, rows(500, 5), nil))
		_ = must(tx.Commit(ctx))
		same(live(load("t"), "audit"), 163)
		same(live(load("t"), "first"), 100)
		return now("t", 158, -1)
	})
	step("views", func() []proof {
		name := table.Identifier{namespace, "v"}
		version := must(view.NewVersionFromSQL(1, 0, "SELECT id FROM t", table.Identifier{namespace}))
		_ = must(lake.CreateView(ctx, name, version, schema))
		same(must(lake.CheckViewExists(ctx, name)), true)
		_ = must(lake.LoadView(ctx, name))
		check(lake.DropView(ctx, name))
		return nil
	})
	step("ctas", func() []proof {
		name := table.Identifier{namespace, "staged"}
		_ = must(lake.CreateTable(ctx, name, schema, catalog.WithProperties(iceberg.Properties{"format-version": "3"}),
			catalog.WithStagedUpdates(table.NewSetPropertiesUpdate(iceberg.Properties{"made": "in stages"}))))
		same(load("staged").Properties()["made"], "in stages")
		return nil
	})
	step("names", func() []proof {
		moved := table.Identifier{namespace, "moved"}
		_ = must(lake.RenameTable(ctx, table.Identifier{namespace, "staged"}, moved))
		check(lake.DropTable(ctx, moved))
		same(must(lake.CheckTableExists(ctx, moved)), false)
		create("purged", 3)
		check(lake.PurgeTable(ctx, table.Identifier{namespace, "purged"}))
		return nil
	})
	step("maintenance", func() []proof {
		create("worn", 3)
		insert("worn", 0, 10)
		insert("worn", 10, 10)
		tx := load("worn").NewTransaction()
		check(tx.ExpireSnapshots(table.WithRetainLast(1), table.WithOlderThan(0)))
		same(len(must(tx.Commit(ctx)).Metadata().Snapshots()), 1)
		return now("worn", 20, 0)
	})
	step("transaction", func() []proof {
		create("a", 3)
		create("b", 3)
		both := must(catalog.NewMultiTableTransaction(lake))
		for _, name := range []string{"a", "b"} {
			tx := load(name).NewTransaction()
			check(tx.Append(ctx, rows(0, 5), nil))
			check(both.AddTransaction(tx))
		}
		check(both.Commit(ctx))
		return append(now("a", 5, 0), now("b", 5, 0)...)
	})
	step("metadata", func() []proof {
		same(inspected(must(load("t").Inspect().Snapshots(ctx))) > 0, true)
		same(inspected(must(load("t").Inspect().Files(ctx))) > 0, true)
		return nil
	})
	step("concurrent", func() []proof {
		create("shared", 3)
		insert("shared", 100, 1)
		var all sync.WaitGroup
		failures := make(chan any, 4)
		for i := range 4 {
			all.Go(func() {
				defer func() {
					if r := recover(); r != nil {
						failures <- r
					}
				}()
				insert("shared", int64(i), 1)
			})
		}
		all.Wait()
		close(failures)
		for failure := range failures {
			panic(failure)
		}
		return now("shared", 5, 0)
	})
	absent("streaming", func() []proof { panic("iceberg-go is a library: a program appends in its own rhythm") })
	absent("variant", func() []proof {
		_, err := lake.CreateTable(ctx, table.Identifier{namespace, "v3"}, iceberg.NewSchema(0,
			iceberg.NestedField{ID: 1, Name: "v", Type: iceberg.VariantType{}}),
			catalog.WithProperties(iceberg.Properties{"format-version": "3"}))
		check(err)
		return nil
	})
}

func create(name string, version int) {
	_ = must(lake.CreateTable(ctx, table.Identifier{namespace, name}, schema,
		catalog.WithProperties(iceberg.Properties{
			"format-version": fmt.Sprint(version), "write.delete.mode": "merge-on-read",
			"commit.retry.num-retries": "10"}))) // by default it does not try again
}

func load(name string) *table.Table {
	return must(lake.LoadTable(ctx, table.Identifier{namespace, name}))
}

func insert(name string, from, many int64) {
	_ = must(load(name).Append(ctx, rows(from, many), nil))
}

func remove(name string, id int64) {
	_ = must(load(name).Delete(ctx, equal(id), nil))
}

func equal(id int64) iceberg.BooleanExpression {
	return iceberg.EqualTo(iceberg.Reference("id"), id)
}

func rows(from, many int64) array.RecordReader {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, columns)
	for id := from; id < from+many; id++ {
		builder.Field(0).(*array.Int64Builder).Append(id)
		builder.Field(1).(*array.StringBuilder).Append(fmt.Sprint(id))
	}
	return must(array.NewRecordReader(columns, []arrow.RecordBatch{builder.NewRecordBatch()}))
}

// live counts the rows of a table, of a branch or tag if one is named.
func live(t *table.Table, ref string) int64 {
	scan := t.Scan()
	if ref != "" {
		scan = must(scan.UseRef(ref))
	}
	return must(scan.ToArrowTable(ctx)).NumRows()
}

func inspected(reader array.RecordReader) (rows int64) {
	for reader.Next() {
		rows += reader.RecordBatch().NumRows()
	}
	check(reader.Err())
	return rows
}

// now is a proof of the snapshot that is current now; fewer than no vectors stand for any number.
func now(name string, rows, dvs int64) []proof {
	p := proof{Table: namespace + "." + name, Snapshot: load(name).CurrentSnapshot().SnapshotID, Rows: &rows}
	if dvs >= 0 {
		p.DVs = &dvs
	}
	return []proof{p}
}

func must2[A, B any](a A, b B, err error) (A, B) {
	check(err)
	return a, b
}
