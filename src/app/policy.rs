//! Which format versions the tables of a warehouse may have.

use super::WarehouseSettings;

/// The versions that this server knows.
const KNOWN: std::ops::RangeInclusive<u8> = 1..=3;

/// The version of a new table where neither the client nor the warehouse says one.
const USUAL: u8 = 2;

/// Which format versions the tables of a warehouse may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatVersions {
    /// The version of a new table whose client does not ask for one.
    pub default: u8,
    /// Whether the warehouse says that itself.
    pub has_default: bool,
    /// What tables may have; ascending.
    allowed: Vec<u8>,
}

impl FormatVersions {
    /// Reads the policy of a warehouse's settings. The error says what is wrong with them.
    pub(super) fn of(settings: &WarehouseSettings) -> Result<Self, String> {
        let mut allowed: Vec<u8> = match &settings.allowed_format_versions {
            Some(versions) => versions.clone(),
            None => KNOWN.collect(),
        };
        allowed.sort_unstable();
        allowed.dedup();
        if let Some(unknown) = allowed.iter().find(|version| !KNOWN.contains(version)) {
            return Err(format!("allowed-format-versions: expected versions from 1 to 3, found {unknown}"));
        }
        let Some(highest) = allowed.last().copied() else {
            return Err("allowed-format-versions: expected one version at least, found none".to_owned());
        };
        let usual = if allowed.contains(&USUAL) { USUAL } else { highest };
        let default = settings.default_format_version.unwrap_or(usual);
        if !allowed.contains(&default) {
            let shown = shown(&allowed);
            return Err(format!("default-format-version: expected one of {shown}, found {default}"));
        }
        let has_default = settings.default_format_version.is_some() || !allowed.contains(&USUAL);
        Ok(Self { default, has_default, allowed })
    }

    /// Whether tables may have this version.
    pub fn allow(&self, version: u8) -> bool {
        self.allowed.contains(&version)
    }

    /// The versions that are allowed, for people.
    pub fn shown(&self) -> String {
        shown(&self.allowed)
    }
}

fn shown(versions: &[u8]) -> String {
    versions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(default: Option<u8>, allowed: Option<&[u8]>) -> Result<(u8, String), String> {
        let settings = WarehouseSettings {
            default_format_version: default,
            allowed_format_versions: allowed.map(<[u8]>::to_vec),
            ..WarehouseSettings::default()
        };
        FormatVersions::of(&settings).map(|versions| (versions.default, versions.shown()))
    }

    #[test]
    fn what_is_not_said_follows() {
        assert_eq!(policy(None, None), Ok((2, "1, 2, 3".to_owned())));
        assert_eq!(policy(Some(3), None), Ok((3, "1, 2, 3".to_owned())));
        assert_eq!(policy(None, Some(&[3])), Ok((3, "3".to_owned())));
        assert_eq!(policy(None, Some(&[3, 2, 2])), Ok((2, "2, 3".to_owned())));
        assert_eq!(policy(None, Some(&[1])), Ok((1, "1".to_owned())));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        assert!(policy(Some(2), Some(&[3])).unwrap_err().starts_with("default-format-version: expected one of 3"));
        assert!(
            policy(None, Some(&[])).is_err() && policy(None, Some(&[4])).is_err() && policy(Some(0), None).is_err()
        );
    }
}
