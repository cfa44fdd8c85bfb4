//! iceberg-rust with its REST catalog: every step of the matrix that its transactions know.

mod claims;

use std::collections::HashMap;
use std::env::var;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use claims::{Outcome, absent, count, lacking, step};
use futures::TryStreamExt;
use futures::future::try_join_all;
use iceberg::arrow::schema_to_arrow_schema;
use iceberg::spec::{
    DataFile, DataFileFormat, FormatVersion, NestedField, PrimitiveType, Schema, Transform, Type, UnboundPartitionSpec,
};
use iceberg::table::Table;
use iceberg::transaction::{AddColumn, ApplyTransactionAction, Transaction};
use iceberg::writer::base_writer::data_file_writer::DataFileWriterBuilder;
use iceberg::writer::file_writer::ParquetWriterBuilder;
use iceberg::writer::file_writer::location_generator::{DefaultFileNameGenerator, DefaultLocationGenerator};
use iceberg::writer::file_writer::rolling_writer::RollingFileWriterBuilder;
use iceberg::writer::{IcebergWriter, IcebergWriterBuilder};
use iceberg::{Catalog, CatalogBuilder, NamespaceIdent, TableCreation, TableIdent};
use iceberg_catalog_rest::{RestCatalog, RestCatalogBuilder};
use iceberg_storage_opendal::OpenDalStorageFactory;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

#[tokio::main]
async fn main() {
    let lake = Lake { catalog: connect().await };
    let lake = &lake;
    step("config", async {
        lake.catalog.list_namespaces(None).await?;
        Ok(vec![])
    })
    .await;
    step("namespace", async {
        let properties = HashMap::from([("owner".to_owned(), "rust".to_owned())]);
        lake.catalog.create_namespace(&namespace(), properties).await?;
        same(
            lake.catalog.get_namespace(&namespace()).await?.properties().get("owner").map(String::as_str),
            Some("rust"),
        )
    })
    .await;
    absent("namespace", async {
        lake.catalog.update_namespace(&namespace(), HashMap::new()).await?;
        Ok(vec![])
    })
    .await;
    step("create", created(lake)).await;
    step("insert", async {
        lake.insert("t", 0..1000).await?;
        lake.now("t", json!({"rows": 1000, "dvs": 0})).await
    })
    .await;
    for name in ["delete", "update", "merge", "equality"] {
        lacking(name, "no action of iceberg-rust's transactions takes delete files: fast append is all that it writes");
    }
    for history in var("HISTORIES").unwrap_or_default().split_whitespace() {
        count(history, lake.history(history)).await;
    }
    match lake.history("t04_merge").await {
        Ok(found) => step("read", async { same(found, 1004) }).await,
        Err(e) => lacking("read", &e.to_string()),
    }
    step("schema", evolved(lake)).await;
    lacking("partition", "iceberg-rust's transactions cannot add a partition spec");
    lacking("upgrade", "iceberg-rust upgrades a table (see create), but writes no deletes");
    step("refs", async {
        let table = lake.load("t").await?;
        let first =
            table.metadata().snapshots().min_by_key(|s| s.sequence_number()).ok_or("no snapshot")?.snapshot_id();
        same(rows(&table, Some(first)).await?, 1000)
    })
    .await;
    lacking("refs", "iceberg-rust's transactions make neither branches nor tags");
    lacking("views", "iceberg-rust's catalogs have no views");
    lacking("ctas", "iceberg-rust's REST catalog stages no table");
    step("names", renamed(lake)).await;
    step("maintenance", expired(lake)).await;
    lacking("transaction", "a transaction of iceberg-rust is of one table");
    step("metadata", async {
        let table = lake.load("t").await?;
        let inspect = table.inspect();
        let snapshots: Vec<RecordBatch> = inspect.snapshots().scan().await?.try_collect().await?;
        let manifests: Vec<RecordBatch> = inspect.manifests().scan().await?.try_collect().await?;
        same((total(&snapshots), total(&manifests) > 0), (2, true))
    })
    .await;
    step("concurrent", async {
        lake.create("shared", FormatVersion::V3, None).await?;
        try_join_all((0..4).map(|i| lake.insert("shared", i..i + 1))).await?;
        lake.now("shared", json!({"rows": 4})).await
    })
    .await;
    lacking("streaming", "iceberg-rust is a library: a program appends in its own rhythm");
    lacking("variant", "iceberg-rust has no variant type");
}

/// A catalog that knows nothing but its address and its warehouse.
async fn connect() -> RestCatalog {
    let given = |name| var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let properties = HashMap::from([
        ("uri".to_owned(), given("CATALOG_URI")),
        ("warehouse".to_owned(), given("WAREHOUSE_LOCATION")),
        ("header.x-goog-user-project".to_owned(), "demo-project".to_owned()),
    ]);
    let builder = RestCatalogBuilder::default().with_storage_factory(Arc::new(OpenDalStorageFactory::Gcs));
    builder.load("lk", properties).await.expect("the catalog's properties are complete")
}

/// The catalog, with the namespace of this program.
struct Lake {
    catalog: RestCatalog,
}

impl Lake {
    async fn create(
        &self,
        name: &str,
        version: FormatVersion,
        spec: Option<UnboundPartitionSpec>,
    ) -> iceberg::Result<Table> {
        let fields = [
            NestedField::optional(1, "id", Type::Primitive(PrimitiveType::Long)),
            NestedField::optional(2, "city", Type::Primitive(PrimitiveType::String)),
        ];
        let creation = TableCreation::builder()
            .name(name.to_owned())
            .schema(Schema::builder().with_fields(fields.map(Arc::new)).build()?)
            .partition_spec_opt(spec)
            // The REST catalog sends no `format_version` of a `TableCreation`, but all properties.
            .properties([("format-version".to_owned(), (version as u8).to_string())])
            .build();
        self.catalog.create_table(&namespace(), creation).await
    }

    async fn load(&self, name: &str) -> iceberg::Result<Table> {
        self.catalog.load_table(&ident(name)).await
    }

    /// The rows of a table with deletion vectors.
    async fn history(&self, name: &str) -> iceberg::Result<usize> {
        let table = self.catalog.load_table(&TableIdent::from_strs(["history", name])?).await?;
        rows(&table, None).await
    }

    /// Appends a file with the rows `ids`, columns beyond the first two being null.
    async fn insert(
        &self,
        name: &str,
        ids: std::ops::Range<i64>,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let table = self.load(name).await?;
        let files = written(&table, ids).await?;
        let transaction = Transaction::new(&table);
        let transaction = transaction.fast_append().add_data_files(files).apply(transaction)?;
        transaction.commit(&self.catalog).await?;
        Ok(())
    }

    /// A proof of the snapshot that is current now, so that later steps do not blur it.
    async fn now(&self, name: &str, mut expected: Value) -> Outcome {
        let table = self.load(name).await?;
        expected["table"] = json!(format!("rust.{name}"));
        expected["snapshot"] = json!(table.metadata().current_snapshot_id());
        Ok(vec![expected])
    }
}

async fn created(lake: &Lake) -> Outcome {
    lake.create("t", FormatVersion::V3, None).await?;
    let by_city = UnboundPartitionSpec::builder().add_partition_field(2, "city", Transform::Identity)?.build();
    lake.create("by_city", FormatVersion::V3, Some(by_city)).await?;
    let table = lake.create("old", FormatVersion::V2, None).await?;
    let transaction = Transaction::new(&table);
    let upgrade = transaction.upgrade_table_version().set_format_version(FormatVersion::V3);
    upgrade.apply(transaction)?.commit(&lake.catalog).await?;
    Ok(["t", "by_city", "old"].map(|name| json!({"table": format!("rust.{name}"), "version": 3})).to_vec())
}

async fn evolved(lake: &Lake) -> Outcome {
    let table = lake.load("t").await?;
    let transaction = Transaction::new(&table);
    let zip = AddColumn::optional("zip", Type::Primitive(PrimitiveType::Int));
    transaction.update_schema().add_column(zip).apply(transaction)?.commit(&lake.catalog).await?;
    lake.insert("t", 5000..5001).await?;
    let table = lake.load("t").await?;
    let transaction = Transaction::new(&table);
    transaction.update_schema().delete_column("zip").apply(transaction)?.commit(&lake.catalog).await?;
    lake.now("t", json!({"rows": 1001})).await
}

async fn renamed(lake: &Lake) -> Outcome {
    lake.create("moving", FormatVersion::V3, None).await?;
    lake.catalog.rename_table(&ident("moving"), &ident("moved")).await?;
    let moved = lake.load("moved").await?;
    let location = moved.metadata_location_result()?.to_owned();
    lake.catalog.drop_table(&ident("moved")).await?;
    lake.catalog.register_table(&ident("back"), location).await?;
    lake.catalog.purge_table(&ident("back")).await?;
    let left = lake.catalog.list_tables(&namespace()).await?;
    let empty = NamespaceIdent::new("empty".to_owned());
    lake.catalog.create_namespace(&empty, HashMap::new()).await?;
    lake.catalog.drop_namespace(&empty).await?;
    same(left.iter().any(|table| ["moving", "moved", "back"].contains(&table.name())), false)
}

async fn expired(lake: &Lake) -> Outcome {
    lake.create("worn", FormatVersion::V3, None).await?;
    lake.insert("worn", 0..50).await?;
    lake.insert("worn", 50..100).await?;
    let table = lake.load("worn").await?;
    let transaction = Transaction::new(&table);
    let expire = transaction.expire_snapshots().expire_older_than_ms(i64::MAX).retain_last(1);
    expire.apply(transaction)?.commit(&lake.catalog).await?;
    same(lake.load("worn").await?.metadata().snapshots().len(), 1)?;
    lake.now("worn", json!({"rows": 100})).await
}

async fn written(
    table: &Table,
    ids: std::ops::Range<i64>,
) -> Result<Vec<DataFile>, Box<dyn std::error::Error + Send + Sync>> {
    let schema = table.metadata().current_schema().clone();
    let arrow = Arc::new(schema_to_arrow_schema(&schema)?);
    let size = usize::try_from(ids.end - ids.start)?;
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(ids.clone())),
        Arc::new(StringArray::from_iter_values(ids.map(|id| id.to_string()))),
    ];
    columns.extend(arrow.fields().iter().skip(2).map(|field| arrow_array::new_null_array(field.data_type(), size)));
    let batch = RecordBatch::try_new(arrow, columns)?;
    let unique = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_nanos();
    let files = RollingFileWriterBuilder::new_with_default_file_size(
        ParquetWriterBuilder::new(WriterProperties::default(), schema),
        table.file_io().clone(),
        DefaultLocationGenerator::new(table.metadata())?,
        DefaultFileNameGenerator::new(unique.to_string(), None, DataFileFormat::Parquet),
    );
    let mut writer = DataFileWriterBuilder::new(files).build(None).await?;
    writer.write(batch).await?;
    Ok(writer.close().await?)
}

/// The number of live rows as iceberg-rust reads them.
async fn rows(table: &Table, snapshot: Option<i64>) -> iceberg::Result<usize> {
    let scan = table.scan();
    let scan = if let Some(id) = snapshot { scan.snapshot_id(id) } else { scan };
    let batches: Vec<RecordBatch> = scan.build()?.to_arrow().await?.try_collect().await?;
    Ok(total(&batches))
}

fn total(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

fn namespace() -> NamespaceIdent {
    NamespaceIdent::new("rust".to_owned())
}

fn ident(name: &str) -> TableIdent {
    TableIdent::new(namespace(), name.to_owned())
}

/// Fails the step unless both are equal.
fn same<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Outcome {
    if found == expected { Ok(vec![]) } else { Err(format!("expected {expected:?}, found {found:?}").into()) }
}
