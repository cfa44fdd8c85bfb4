// iceberg-js through everything that it can do with a catalog. The package stands in the folder that the first
// argument names; the second is the catalog's address, the third its warehouse. Ends with code 0 if all went well.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [folder, baseUrl, warehouse] = process.argv.slice(2);
const packed = pathToFileURL(`${folder}/node_modules/iceberg-js/dist/index.mjs`).href;
const { IcebergRestCatalog, IcebergError, getCurrentSchema } = await import(packed);

const catalog = new IcebergRestCatalog({ baseUrl, warehouse, auth: { type: "none" } });
const ns = { namespace: ["iceberg_js"] };
const table = (name) => ({ ...ns, name });
const schema = {
  type: "struct",
  fields: [
    { id: 1, name: "id", type: "long", required: true },
    { id: 2, name: "city", type: "string", required: false },
    { id: 3, name: "at", type: "timestamptz_ns", required: false },
    { id: 4, name: "tags", type: { type: "list", "element-id": 5, element: "string", "element-required": false }, required: false },
  ],
};
const refused = (status, type) => (error) =>
  error instanceof IcebergError && error.status === status && error.icebergType === type;

const steps = {
  async "config names the prefix"() {
    const config = await catalog.loadConfig();
    assert.ok(config.endpoints.includes("GET /v1/{prefix}/namespaces"));
    assert.equal(config.overrides.prefix, warehouse);
  },
  async "namespaces are made, changed and listed page by page"() {
    await catalog.createNamespace(ns, { properties: { owner: "someone", note: "x" } });
    await assert.rejects(catalog.createNamespace(ns), refused(409, "AlreadyExistsException"));
    await catalog.createNamespaceIfNotExists(ns);
    const done = await catalog.updateNamespaceProperties(ns, { updates: { owner: "other" }, removals: ["note", "none"] });
    assert.deepEqual([done.updated, done.removed, done.missing], [["owner"], ["note"], ["none"]]);
    assert.deepEqual((await catalog.loadNamespaceMetadata(ns)).properties, { owner: "other" });
    assert.equal(await catalog.namespaceExists(ns), true);
    assert.equal(await catalog.namespaceExists({ namespace: ["nowhere"] }), false);
    await assert.rejects(catalog.loadNamespaceMetadata({ namespace: ["nowhere"] }), refused(404, "NoSuchNamespaceException"));
    for (const name of ["a", "b", "c"]) await catalog.createNamespace({ namespace: ["iceberg_js", name] });
    const names = [];
    let pageToken = "";
    do {
      const page = await catalog.listNamespaces({ parent: ns, pageToken, pageSize: 2 });
      names.push(...page.namespaces.map((one) => one.namespace.at(-1)));
      pageToken = page.nextPageToken;
    } while (pageToken);
    assert.deepEqual(names, ["a", "b", "c"]);
    for (const name of names) await catalog.dropNamespace({ namespace: ["iceberg_js", name] });
  },
  async "tables of versions 2 and 3 are made and loaded"() {
    for (const version of [2, 3]) {
      const fields = version === 3 ? schema.fields : schema.fields.filter((field) => field.name !== "at");
      const made = await catalog.createTableResult(ns, {
        name: `v${version}`,
        schema: { ...schema, fields },
        "partition-spec": { "spec-id": 0, fields: [{ "source-id": 1, "field-id": 1000, name: "bucket", transform: "bucket[4]" }] },
        properties: { "format-version": String(version) },
      });
      assert.equal(made.metadata["format-version"], version);
      assert.equal(getCurrentSchema(made.metadata).fields.length, fields.length);
      const loaded = await catalog.loadTableResult(table(`v${version}`));
      assert.ok(loaded.etag);
      assert.equal(loaded["metadata-location"], made["metadata-location"]);
      assert.equal(await catalog.loadTable(table(`v${version}`), { ifNoneMatch: loaded.etag }), null);
      assert.ok(await catalog.loadTable(table(`v${version}`), { snapshots: "refs" }));
    }
    const older = { name: "older", schema, properties: { "format-version": "2" } };
    await assert.rejects(catalog.createTable(ns, older), refused(400, "BadRequestException"));
    await assert.rejects(catalog.createTable(ns, { name: "v3", schema }), refused(409, "AlreadyExistsException"));
    await catalog.createTableIfNotExists(ns, { name: "v3", schema });
    assert.deepEqual((await catalog.listTables(ns)).identifiers.map((one) => one.name), ["v2", "v3"]);
    assert.equal(await catalog.tableExists(table("v3")), true);
    assert.equal(await catalog.tableExists(table("none")), false);
  },
  async "a commit counts once, and a stale one is refused"() {
    const { metadata } = await catalog.loadTableResult(table("v3"));
    const requirements = [
      { type: "assert-table-uuid", uuid: metadata["table-uuid"] },
      { type: "assert-current-schema-id", "current-schema-id": 0 },
    ];
    const fields = [...getCurrentSchema(metadata).fields, { id: 6, name: "more", type: "variant", required: false }];
    const updates = [
      { action: "set-properties", updates: { note: "from JavaScript" } },
      { action: "add-schema", schema: { type: "struct", fields } },
      { action: "set-current-schema", "schema-id": -1 },
    ];
    const done = await catalog.commitTable(table("v3"), { requirements, updates });
    assert.equal(done.metadata.properties.note, "from JavaScript");
    assert.equal(getCurrentSchema(done.metadata).fields.at(-1).type, "variant");
    await assert.rejects(catalog.updateTable(table("v3"), { requirements, updates }), refused(409, "CommitFailedException"));
    const unknown = { requirements: [], updates: [{ action: "no-such-update" }] };
    await assert.rejects(catalog.commitTable(table("v3"), unknown), refused(400, "BadRequestException"));
  },
  async "a table is renamed, dropped, registered again and purged"() {
    await catalog.renameTable({ source: table("v2"), destination: table("moved") });
    await assert.rejects(catalog.loadTable(table("v2")), refused(404, "NoSuchTableException"));
    const { "metadata-location": location } = await catalog.loadTableResult(table("moved"));
    await catalog.dropTable(table("moved"));
    await catalog.registerTable(ns, { name: "back", "metadata-location": location });
    assert.equal((await catalog.loadTableResult(table("back")))["metadata-location"], location);
    await assert.rejects(catalog.dropNamespace(ns), refused(409, "NamespaceNotEmptyException"));
    for (const name of ["back", "v3"]) await catalog.dropTable(table(name), { purge: true });
    await assert.rejects(catalog.dropTable(table("back")), refused(404, "NoSuchTableException"));
    await catalog.dropNamespace(ns);
  },
};

for (const [name, step] of Object.entries(steps)) {
  await step();
  console.log(`ok: ${name}`);
}
