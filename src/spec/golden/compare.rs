//! When two documents say the same.

use serde_json::Value;

/// Times that come from a clock, not from the input.
const CLOCK: &str = "last-updated-ms";

/// Whether both documents say the same, times aside, and with statistics in any order: Java keeps them in a hash map.
pub(super) fn is_same(java: &Value, ours: &Value) -> bool {
    normal(java, java) == normal(ours, java)
}

/// Whether `ours` says all that `java` says, and besides only members of the input, which Java dropped. Entries of
/// maps are no members: a branch, a property or a part of a summary that Java does not have is an error of ours.
pub(super) fn has_more(java: &Value, ours: &Value, input: &str) -> bool {
    contains("", &normal(ours, java), &normal(java, java), input)
}

fn contains(name: &str, more: &Value, less: &Value, input: &str) -> bool {
    match (more, less) {
        (Value::Object(more), Value::Object(less)) => {
            let is_map = ["refs", "properties", "summary"].contains(&name);
            let dropped = |key: &String| !is_map && input.contains(&format!("\"{key}\""));
            less.keys().all(|key| more.contains_key(key))
                && more.iter().all(|(key, more)| match less.get(key) {
                    Some(less) => contains(key, more, less, input),
                    None => dropped(key),
                })
        }
        (Value::Array(more), Value::Array(less)) => {
            more.len() == less.len() && more.iter().zip(less).all(|(more, less)| contains(name, more, less, input))
        }
        _ => more == less,
    }
}

/// The document without the times of the clock that `java` was written by.
fn normal(document: &Value, java: &Value) -> Value {
    let mut document = document.clone();
    let Some(members) = document.as_object_mut() else { return document };
    members.remove(CLOCK);
    if let Some(logged) = members.get_mut("snapshot-log").and_then(Value::as_array_mut) {
        let java_log = java["snapshot-log"].as_array();
        for (at, entry) in logged.iter_mut().enumerate() {
            let java_time = java_log.and_then(|log| log.get(at)).map(|entry| &entry["timestamp-ms"]);
            if java_time == Some(&java[CLOCK]) {
                entry["timestamp-ms"] = Value::Null;
            }
        }
    }
    for statistics in ["statistics", "partition-statistics"] {
        if let Some(files) = members.get_mut(statistics).and_then(Value::as_array_mut) {
            files.sort_by_key(|file| file["snapshot-id"].as_i64());
        }
    }
    document
}
