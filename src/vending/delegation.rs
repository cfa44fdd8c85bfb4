//! How clients get at a table's files: what a warehouse offers, and what a client asks for.

use serde::{Deserialize, Serialize};

/// The header in which a client lists what it can do, in any order.
pub const HEADER: &str = "x-iceberg-access-delegation";

/// How a warehouse lets its clients at the files of its tables.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Not at all: clients use credentials of their own.
    #[default]
    None,
    /// With short-lived credentials for one table.
    VendedCredentials,
    /// By signing each of their requests to S3.
    RemoteSigning,
}

/// What a client said it can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delegation {
    vended: bool,
    signing: bool,
}

impl Delegation {
    /// Reads the values of the header, each a list. What is not known is passed over, as the specification wants it.
    pub fn parse<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        let mut asked = Self::default();
        for word in values.flat_map(|value| value.split(',')).map(str::trim) {
            match word {
                "vended-credentials" => asked.vended = true,
                "remote-signing" => asked.signing = true,
                _ => {}
            }
        }
        asked
    }

    /// What the client gets of what the warehouse offers: that, or nothing.
    pub fn of(self, offered: Mode) -> Mode {
        match offered {
            Mode::VendedCredentials if self.vended => offered,
            Mode::RemoteSigning if self.signing => offered,
            _ => Mode::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn got(values: &[&str], offered: Mode) -> Mode {
        Delegation::parse(values.iter().copied()).of(offered)
    }

    #[test]
    fn a_client_gets_what_it_asks_for_and_the_warehouse_offers() {
        use Mode::{None, RemoteSigning, VendedCredentials};
        let both = ["vended-credentials,remote-signing"];
        assert_eq!(got(&both, VendedCredentials), VendedCredentials);
        assert_eq!(got(&both, RemoteSigning), RemoteSigning);
        assert_eq!(got(&both, None), None);
        assert_eq!(got(&["remote-signing", " vended-credentials "], VendedCredentials), VendedCredentials);
        assert_eq!(got(&["remote-signing"], VendedCredentials), None);
        assert_eq!(got(&["vended-credentials"], RemoteSigning), None);
        assert_eq!(got(&["", "other, ,"], VendedCredentials), None);
        assert_eq!(got(&[], VendedCredentials), None);
    }
}
