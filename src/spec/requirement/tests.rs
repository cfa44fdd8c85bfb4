use insta::assert_snapshot;
use serde_json::{Value, json};

use super::TableRequirement;
use crate::spec::commit_request::CommitTableRequest;
use crate::spec::error::Result;
use crate::spec::json::Raw;
use crate::spec::testing::{change, parse, refusal, table};

fn requirement(json: &Value) -> Result<TableRequirement> {
    let raw: Raw = serde_json::from_str(&json.to_string()).unwrap();
    TableRequirement::parse(&raw)
}

fn check(json: &Value) -> Result<()> {
    let mut base = table(2);
    change(&mut base["refs"], &json!({"t": {"snapshot-id": 10, "type": "tag"}}));
    requirement(json).unwrap().check(&parse(&base))
}

#[test]
fn what_holds_is_no_error() {
    let holds = [
        json!({"type": "assert-table-uuid", "uuid": "9C12D441-03fe-4693-9a96-a0705ddf69c1"}),
        json!({"type": "ASSERT-ref-snapshot-id", "ref": "main", "snapshot-id": 11}),
        json!({"type": "assert-ref-snapshot-id", "ref": "none", "snapshot-id": null}),
        json!({"type": "assert-last-assigned-field-id", "last-assigned-field-id": 2}),
        json!({"type": "assert-current-schema-id", "current-schema-id": 1}),
        json!({"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000}),
        json!({"type": "assert-default-spec-id", "default-spec-id": 0}),
        json!({"type": "assert-default-sort-order-id", "default-sort-order-id": 0, "unknown": 1}),
    ];
    for json in holds {
        assert_eq!(check(&json), Ok(()), "{json}");
    }
}

#[test]
fn what_does_not_hold_is_a_conflict() {
    let fails = [
        json!({"type": "assert-create"}),
        json!({"type": "assert-table-uuid", "uuid": "other"}),
        json!({"type": "assert-view-uuid", "uuid": "other"}),
        json!({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": null}),
        json!({"type": "assert-ref-snapshot-id", "ref": "t", "snapshot-id": null}),
        json!({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 10}),
        json!({"type": "assert-ref-snapshot-id", "ref": "t", "snapshot-id": 11}),
        json!({"type": "assert-ref-snapshot-id", "ref": "none", "snapshot-id": -1}),
        json!({"type": "assert-last-assigned-field-id", "last-assigned-field-id": 1}),
        json!({"type": "assert-current-schema-id", "current-schema-id": 0}),
        json!({"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 999}),
        json!({"type": "assert-default-spec-id", "default-spec-id": 1}),
        json!({"type": "assert-default-sort-order-id", "default-sort-order-id": 1}),
    ];
    let texts: Vec<_> = fails.iter().map(|json| refusal(check(json))).collect();
    assert_snapshot!(texts.join("\n"), @r"
    409 Requirement failed: table already exists
    409 Requirement failed: UUID does not match: expected 9c12d441-03fe-4693-9a96-a0705ddf69c1 != other
    400 Cannot validate assert-view-uuid against a table
    409 Requirement failed: branch main was created concurrently
    409 Requirement failed: tag t was created concurrently
    409 Requirement failed: branch main has changed: expected id 10 != 11
    409 Requirement failed: tag t has changed: expected id 11 != 10
    409 Requirement failed: branch or tag none is missing, expected -1
    409 Requirement failed: last assigned field id changed: expected id 1 != 2
    409 Requirement failed: current schema changed: expected id 0 != 1
    409 Requirement failed: last assigned partition id changed: expected id 999 != 1000
    409 Requirement failed: default partition spec changed: expected id 1 != 0
    409 Requirement failed: default sort order changed: expected id 1 != 0
    ");
}

#[test]
fn wrong_requirements_are_named() {
    let wrong = [
        json!(5),
        json!({}),
        json!({"type": null}),
        json!({"type": 5}),
        json!({"type": "assert-next-row-id", "next-row-id": 5}),
        json!({"type": "assert-table-uuid"}),
        json!({"type": "assert-table-uuid", "uuid": null}),
        json!({"type": "assert-ref-snapshot-id", "snapshot-id": 5}),
        json!({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": "5"}),
        json!({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 1e30}),
        json!({"type": "assert-current-schema-id", "current-schema-id": 4_294_967_296_i64}),
    ];
    let texts: Vec<_> = wrong.iter().map(|json| refusal(requirement(json))).collect();
    assert_snapshot!(texts.join("\n"), @r#"
    400 Cannot parse update requirement from non-object value: 5
    400 Cannot parse update requirement. Missing field: type
    400 Cannot parse update requirement. Missing field: type
    400 Cannot parse to a string value: type: 5
    400 Unknown update requirement type: assert-next-row-id
    400 Cannot parse missing string: uuid
    400 Cannot parse to a string value: uuid: null
    400 Cannot parse missing string: ref
    400 Cannot parse to a long value: snapshot-id: "5"
    400 Cannot parse to a long value: snapshot-id: 1e+30
    400 Cannot parse to an integer value: current-schema-id: 4294967296
    "#);
}

#[test]
fn a_create_demands_nothing_else() {
    let request = |requirements: Value| {
        let body = json!({"requirements": requirements, "updates": [], "identifier": null});
        CommitTableRequest::parse(body.to_string().as_bytes()).unwrap().is_create()
    };
    let (create, uuid) = (json!({"type": "assert-create"}), json!({"type": "assert-table-uuid", "uuid": "u"}));
    assert_eq!(request(json!([])), Ok(false));
    assert_eq!(request(json!([uuid])), Ok(false));
    assert_eq!(request(json!([create, create])), Ok(true));
    assert_snapshot!(refusal(request(json!([create, uuid]))), @"400 Invalid create requirements: [assert-table-uuid]");
}

#[test]
fn a_request_may_leave_out_what_is_empty() {
    let request =
        CommitTableRequest::parse(br#"{"identifier":{"namespace":["a"],"name":"t"},"updates":null}"#).unwrap();
    assert_eq!(request.identifier.unwrap().to_string(), "a.t");
    assert!(request.requirements.is_empty() && request.updates.is_empty());
    for wrong in ["", "[]", "{\"updates\":{}}", "{\"requirements\":5}", "{\"identifier\":{\"namespace\":[]}}", "{} {}"]
    {
        assert!(CommitTableRequest::parse(wrong.as_bytes()).is_err(), "{wrong}");
    }
}
