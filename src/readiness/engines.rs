//! What clients are known to do with tables of format version 3, by what they say of themselves.

use serde::Serialize;

/// Whether a client can do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ability {
    /// It can.
    Yes,
    /// It cannot.
    No,
    /// Nobody tried.
    Unknown,
}

/// What is known of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Known {
    /// What it is called; what it says of itself if it is not known.
    pub name: String,
    /// Its version, if it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it reads tables with deletion vectors.
    pub reads: Ability,
    /// Whether it writes them.
    pub writes: Ability,
    /// What else is to be said.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
}

/// A client that is known.
struct Client {
    name: &'static str,
    /// What comes before the version in what it says.
    before_version: &'static str,
    /// From which version on what holds, ascending.
    since: &'static [Since],
}

struct Since {
    version: [u32; 3],
    reads: Ability,
    writes: Ability,
    note: &'static str,
}

use Ability::{No, Unknown, Yes};

const fn since(version: [u32; 3], reads: Ability, writes: Ability, note: &'static str) -> Since {
    Since { version, reads, writes, note }
}

/// Versions with a patch level were tried against tables with deletion vectors; where a row begins lower, release notes
/// say so.
const CLIENTS: &[Client] = &[
    Client {
        // Spark, Flink, Trino and all others that use Iceberg's own library: the engine is not told.
        name: "Apache Iceberg (Java)",
        before_version: "Apache Iceberg ",
        since: &[
            since([0, 0, 0], No, No, "deletion vectors came with 1.8"),
            since([1, 8, 0], Yes, No, "writes no row lineage, which came with 1.9"),
            since([1, 9, 0], Yes, Yes, ""),
        ],
    },
    Client {
        name: "DuckDB",
        before_version: "duckdb/v",
        since: &[
            since([0, 0, 0], No, No, "1.5.3 reads no framed Puffin file, and writes files that no other engine reads"),
            since([1, 5, 4], Unknown, Unknown, ""),
            since(
                [1, 5, 5],
                Yes,
                Yes,
                "1.5.5 drops the vectors of other files in a shared Puffin file; such commits are refused (dv-lost)",
            ),
        ],
    },
    Client {
        name: "PyIceberg",
        before_version: "PyIceberg/",
        since: &[
            since([0, 0, 0], Unknown, No, ""),
            since([0, 12, 0], Yes, No, "0.12.0 writes no manifests of version 3, and reads no equality deletes"),
        ],
    },
    Client {
        name: "Sail",
        before_version: "Sail/",
        since: &[
            since([0, 0, 0], Unknown, Unknown, ""),
            since([0, 7, 2], Yes, Yes, "0.7.2 does not read tables that DuckDB wrote vectors to"),
        ],
    },
    Client {
        name: "ClickHouse",
        before_version: "ClickHouse/",
        since: &[
            since([0, 0, 0], No, No, "26.9 reads position deletes in Parquet only"),
            since([26, 10, 0], Unknown, Unknown, ""),
        ],
    },
];

/// What is known of a client by what it says of itself.
pub fn known(agent: &str) -> Known {
    for client in CLIENTS {
        let Some((_, after)) = agent.split_once(client.before_version) else { continue };
        let text: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let version = parse(&text);
        let holds = client.since.iter().rfind(|since| since.version <= version);
        let (reads, writes, note) =
            holds.map_or((Unknown, Unknown, ""), |since| (since.reads, since.writes, since.note));
        let version = (!text.is_empty()).then_some(text);
        return Known { name: client.name.to_owned(), version, reads, writes, note };
    }
    Known { name: agent.to_owned(), version: None, reads: Unknown, writes: Unknown, note: "" }
}

fn parse(text: &str) -> [u32; 3] {
    let mut version = [0; 3];
    for (part, number) in text.split('.').zip(&mut version) {
        *number = part.parse().unwrap_or(0);
    }
    version
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("Apache Iceberg 1.10.2 (commit 57396d6), Apache-HttpClient/5.5 (Java/17.0.15)", "1.10.2", Yes, Yes)]
    #[case("Apache Iceberg 1.8.1 (commit 0), Apache-HttpClient/5.4.3", "1.8.1", Yes, No)]
    #[case("Apache Iceberg 1.7.0 (commit 0)", "1.7.0", No, No)]
    #[case("duckdb/v1.5.5(linux_amd64) python/3.11 d8cdaa33fd", "1.5.5", Yes, Yes)]
    #[case("duckdb/v1.5.3(linux_amd64) python/3.11 14eca11bd9", "1.5.3", No, No)]
    #[case("PyIceberg 0.12.0, PyIceberg/0.12.0", "0.12.0", Yes, No)]
    #[case("Sail/0.7.2", "0.7.2", Yes, Yes)]
    #[case("ClickHouse/26.9.2.1", "26.9.2.1", No, No)]
    #[case("ClickHouse/27.1.1.1", "27.1.1.1", Unknown, Unknown)]
    fn clients_are_known_by_what_they_say(
        #[case] agent: &str,
        #[case] version: &str,
        #[case] reads: Ability,
        #[case] writes: Ability,
    ) {
        let known = known(agent);
        assert_eq!((known.version.as_deref(), known.reads, known.writes), (Some(version), reads, writes));
    }

    #[test]
    fn others_are_not() {
        let known = known("node");
        assert_eq!((known.name.as_str(), known.version, known.reads), ("node", None, Unknown));
    }

    #[test]
    fn what_holds_since_when_ascends() {
        for client in CLIENTS {
            assert!(client.since.is_sorted_by(|one, next| one.version < next.version), "{}", client.name);
        }
    }
}
