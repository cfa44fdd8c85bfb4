//! `guillemot import`, into a server that runs.

mod bad_catalogs;
mod bad_folders;
mod catalog;
mod cut_off;
mod endless;
mod hadoop;
mod jdbc;
mod loose_cells;
mod talkative;

use super::{Ran, guillemot};
use crate::support::server::{Server, Setting};

/// Runs an import into a server's database.
fn import(server: &Server, arguments: &[&str]) -> Ran {
    let config = &server.app.config;
    let mut all = vec!["import"];
    all.extend(arguments);
    all.extend(["--database-url", &config.database_url]);
    if let Some(endpoint) = &config.gcs_endpoint {
        all.extend(["--gcs-endpoint", endpoint]);
    }
    for place in &config.allow_prefix {
        all.extend(["--allow-prefix", place]);
    }
    guillemot(&all)
}

/// A server that takes in what lies in another one's warehouse, as one that replaces it does.
async fn heir_of(source: &Server, setting: Setting) -> Server {
    let place = source.warehouse.clone();
    Server::start_with(setting, |settings| settings.allow_prefix = vec![place]).await
}

impl Ran {
    /// The last line, which is the sum.
    fn sum(&self) -> &str {
        self.out.lines().last().unwrap_or(&self.err)
    }

    /// Demands a line that begins so, and answers it.
    fn line(&self, beginning: &str) -> &str {
        let found = self.out.lines().find(|line| line.starts_with(beginning));
        found.unwrap_or_else(|| panic!("no line `{beginning}`:\n{}{}", self.out, self.err))
    }

    /// Demands an exit code and a sum.
    fn ends(&self, code: i32, sum: &str) {
        assert_eq!((self.code, self.sum()), (code, sum), "{}{}", self.out, self.err);
    }
}
