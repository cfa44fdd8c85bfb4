//! What this engine says it did, one JSON line a claim, for the matrix to check.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

/// What an independent reader should find, or the engine's words.
pub type Outcome = Result<Vec<Value>, Box<dyn std::error::Error + Send + Sync>>;

/// A step that hangs is a failure of its own.
const PATIENCE: Duration = Duration::from_secs(60);

/// A step that should work.
pub async fn step(name: &str, body: impl Future<Output = Outcome>) {
    claim(name, "fail", body).await;
}

/// A step that this engine refuses by itself; when it works, that is claimed instead.
pub async fn absent(name: &str, body: impl Future<Output = Outcome>) {
    claim(name, "absent", body).await;
}

/// A step that this engine has no means for.
pub fn lacking(name: &str, why: &str) {
    write(&json!({"step": name, "result": "absent", "message": why}));
}

/// The rows of a history, or why they could not be counted.
pub async fn count(history: &str, rows: impl Future<Output = iceberg::Result<usize>>) {
    write(&match patient(rows).await {
        Ok(rows) => json!({"count": history, "rows": rows}),
        Err(words) => json!({"count": history, "message": words}),
    });
}

async fn claim(name: &str, otherwise: &str, body: impl Future<Output = Outcome>) {
    write(&match patient(body).await {
        Ok(proofs) => json!({"step": name, "result": "pass", "proofs": proofs}),
        Err(words) => {
            eprintln!("{name}: {words}");
            json!({"step": name, "result": otherwise, "message": words})
        }
    });
}

async fn patient<T, E: ToString>(body: impl Future<Output = Result<T, E>>) -> Result<T, String> {
    match tokio::time::timeout(PATIENCE, body).await {
        Ok(done) => done.map_err(|e| e.to_string()),
        Err(_) => Err(format!("no answer within {PATIENCE:?}")),
    }
}

fn write(claim: &Value) {
    let path = std::env::var("CLAIMS").expect("CLAIMS names a file");
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("the file of claims opens");
    writeln!(file, "{claim}").expect("the file of claims is written");
}
