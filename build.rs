//! Rebuilds when a migration is added: `sqlx::migrate!` alone sees only changes of files it knows.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
