//! From folders in which something cannot be used: it is told of by its own name, and the rest is imported.

use super::hadoop::lay;
use super::import;
use crate::support::server::{Server, Setting};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_bad_entry_is_told_of_and_the_rest_is_imported() {
    let server = Server::start(Setting::Local).await;
    lay(&server, "t04_merge", "sales/merge").await;
    lay(&server, "seed_v3", "sales/seed").await;
    lay(&server, "seed_v3", "sales/torn").await;
    let root = format!("{}/h", server.warehouse);
    let folder = Path::new(root.strip_prefix("file://").unwrap());
    let sales = folder.join("sales");
    symlink("loop", folder.join("loop")).unwrap();
    symlink("..", sales.join("around")).unwrap();
    // A circle of two links.
    let far = tempfile::tempdir().unwrap();
    symlink(far.path(), sales.join("far")).unwrap();
    symlink(&sales, far.path().join("back")).unwrap();
    symlink("nothing", sales.join("nowhere")).unwrap();
    fs::write(sales.join(OsStr::from_bytes(b"x\xff")), "x").unwrap();
    fs::write(sales.join("seed/metadata").join(OsStr::from_bytes(b"y\xff.avro")), "x").unwrap();
    symlink("v90.metadata.json", sales.join("torn/metadata/v90.metadata.json")).unwrap();
    fs::create_dir(sales.join("shut")).unwrap();
    fs::set_permissions(sales.join("shut"), fs::Permissions::from_mode(0o000)).unwrap();

    let ran = import(&server, &["hadoop", &root]);
    for (entry, why) in [
        ("loop", "symbolic links"),
        ("sales/around", "a link to a folder around it"),
        ("sales/far/back", "a link to a folder around it"),
        ("sales/nowhere", "No such file"),
        ("sales/x\\xff", "its name is no UTF-8"),
        ("sales/seed/metadata/y\\xff.avro", "its name is no UTF-8"),
        ("sales/torn/metadata/v90.metadata.json", "symbolic links"),
    ] {
        let line = ran.line(&format!("failed {root}/{entry}: "));
        assert!(line.contains(why), "{line}");
    }
    // Its newest version cannot be read: an older one would be a table of another day.
    assert!(ran.line("failed table sales.torn: ").contains("v90.metadata.json"), "{}", ran.out);
    // To some nothing is shut.
    let shut = usize::from(fs::read_dir(sales.join("shut")).is_err());
    if shut > 0 {
        ran.line(&format!("failed {root}/sales/shut: "));
    }
    let failed = 8 + shut;
    ran.ends(1, &format!("imported 2 tables, 0 views, 1 namespace; 0 already there; {failed} failed"));
    for table in ["merge", "seed"] {
        server.get(&format!("/namespaces/sales/tables/{table}")).await.expect(200);
    }
}
