// iceberg-js: a client of the catalog that reads and writes no data files. Its folder is the first argument.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { absent, step } from "./claims.mjs";

const packed = pathToFileURL(`${process.argv[2]}/node_modules/iceberg-js/dist/index.mjs`).href;
const { IcebergRestCatalog, getCurrentSchema } = await import(packed);

const { CATALOG_URI: baseUrl, CATALOG_WAREHOUSE: warehouse, CATALOG_TOKEN: token } = process.env;
const catalog = new IcebergRestCatalog({ baseUrl, warehouse, auth: { type: "bearer", token } });
const ns = { namespace: ["js"] };
const table = (name) => ({ ...ns, name });
const fields = [
  { id: 1, name: "id", type: "long", required: true },
  { id: 2, name: "city", type: "string", required: false },
];
const create = (name, version, more = {}) =>
  catalog.createTable(ns, {
    name,
    schema: { type: "struct", fields },
    properties: { "format-version": String(version) },
    ...more,
  });
const commit = (name, updates, requirements = []) => catalog.commitTable(table(name), { requirements, updates });
const no = (why) => () => {
  throw new Error(why);
};
const files = no("iceberg-js is a client of the catalog alone: it reads and writes no data files");

await step("config", async () => {
  assert.equal((await catalog.loadConfig()).overrides.prefix, warehouse);
  const stranger = new IcebergRestCatalog({ baseUrl, warehouse, auth: { type: "none" } });
  await assert.rejects(stranger.loadConfig(), (error) => error.status === 401);
});
await step("namespace", async () => {
  await catalog.createNamespace(ns, { properties: { owner: "someone" } });
  assert.deepEqual((await catalog.loadNamespaceMetadata(ns)).properties, { owner: "someone" });
});
await step("create", async () => {
  assert.equal((await create("t", 3))["format-version"], 3);
  return [{ table: "js.t", version: 3, rows: 0 }];
});
for (const name of ["insert", "delete", "update", "merge", "read", "maintenance", "streaming", "equality"]) {
  await absent(name, files);
}
await step("schema", async () => {
  const added = [...fields, { id: 3, name: "zip", type: "int", required: false }];
  const updates = [
    { action: "add-schema", schema: { type: "struct", fields: added } },
    { action: "set-current-schema", "schema-id": -1 },
  ];
  const { metadata } = await commit("t", updates, [{ type: "assert-current-schema-id", "current-schema-id": 0 }]);
  assert.equal(getCurrentSchema(metadata).fields.at(-1).name, "zip");
});
await step("partition", async () => {
  const spec = { fields: [{ "source-id": 1, name: "bucket", transform: "bucket[4]" }] };
  const updates = [{ action: "add-spec", spec }, { action: "set-default-spec", "spec-id": -1 }];
  const { metadata } = await commit("t", updates, [{ type: "assert-default-spec-id", "default-spec-id": 0 }]);
  assert.equal(metadata["default-spec-id"], 1);
});
await step("upgrade", async () => {
  assert.equal((await create("old", 2))["format-version"], 2);
  const { metadata } = await commit("old", [{ action: "upgrade-format-version", "format-version": 3 }]);
  assert.equal(metadata["format-version"], 3);
  return [{ table: "js.old", version: 3, rows: 0 }];
});
await absent("refs", async () => {
  const seed = { namespace: ["history"], name: "seed_v3" };
  const snapshot = (await catalog.loadTable(seed))["current-snapshot-id"];
  const updates = [{ action: "set-snapshot-ref", "ref-name": "tagged", type: "tag", "snapshot-id": snapshot }];
  try {
    await catalog.commitTable(seed, { requirements: [], updates });
  } catch (error) {
    throw new Error(`snapshot ids become JavaScript's numbers, and are rounded: ${error.message}`);
  }
});
await absent("views", no("iceberg-js has no calls for views"));
await step("ctas", async () => {
  const name = "staged";
  const metadata = await create(name, 3, { "stage-create": true });
  assert.equal(await catalog.tableExists(table(name)), false);
  const updates = [
    { action: "assign-uuid", uuid: metadata["table-uuid"] },
    { action: "upgrade-format-version", "format-version": 3 },
    { action: "add-schema", schema: metadata.schemas[0] },
    { action: "set-current-schema", "schema-id": -1 },
    { action: "add-spec", spec: { fields: [] } },
    { action: "set-default-spec", "spec-id": -1 },
    { action: "add-sort-order", "sort-order": { "order-id": 0, fields: [] } },
    { action: "set-default-sort-order", "sort-order-id": -1 },
    { action: "set-location", location: metadata.location },
  ];
  await commit(name, updates, [{ type: "assert-create" }]);
  return [{ table: "js.staged", version: 3, rows: 0 }];
});
await step("names", async () => {
  await create("moving", 3);
  await catalog.renameTable({ source: table("moving"), destination: table("moved") });
  await catalog.dropTable(table("moved"));
  await create("purged", 3);
  await catalog.dropTable(table("purged"), { purge: true });
  assert.deepEqual((await catalog.listTables(ns)).identifiers.map((one) => one.name), ["old", "staged", "t"]);
});
await absent("transaction", no("iceberg-js commits to one table at a time"));
await absent("metadata", no("iceberg-js reads metadata files only as the catalog answers them"));
await step("concurrent", async () => {
  await create("shared", 3);
  const all = [0, 1, 2, 3].map((i) => commit("shared", [{ action: "set-properties", updates: { [`p${i}`]: "x" } }]));
  await Promise.all(all);
  const { properties } = await catalog.loadTable(table("shared"));
  assert.deepEqual([0, 1, 2, 3].map((i) => properties[`p${i}`]), ["x", "x", "x", "x"]);
});
await step("variant", async () => {
  const schema = { type: "struct", fields: [...fields, { id: 3, name: "v", type: "variant", required: false }] };
  const metadata = await catalog.createTable(ns, { name: "v3", schema, properties: { "format-version": "3" } });
  assert.equal(getCurrentSchema(metadata).fields.at(-1).type, "variant");
});
