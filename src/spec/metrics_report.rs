//! Reports that engines send on a scan or a commit (spec.md 1.3, "Tables").

use super::error::{Error, Result};
use super::json::{Object, Raw};

/// A report as the engine sent it. Only its kind is looked at: which counters there are is up to the engine, and
/// newer ones count more.
#[derive(Debug, Clone)]
pub struct MetricsReport(Raw);

impl MetricsReport {
    /// Largest report that is taken, in bytes.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// Reads the body of a request, or a report that was kept.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is no JSON object, or its `report-type` is missing or unknown.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut report = Object::parse_document(bytes)?;
        let whole = report.to_raw();
        match report.required_str("report-type")?.as_str() {
            "scan-report" | "commit-report" => Ok(Self(whole)),
            other => Err(Error::invalid(format!("Invalid report type: {other}"))),
        }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// It as one JSON value.
    pub fn into_raw(self) -> Raw {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_kept_as_sent() {
        let text = r#"{"report-type":"scan-report","filter":true,"metrics":{"new":{"value":9223372036854775807}}}"#;
        assert_eq!(MetricsReport::parse(text.as_bytes()).unwrap().text(), text);
    }

    #[test]
    fn other_kinds_are_refused() {
        for text in ["[]", "{}", r#"{"report-type":7}"#, r#"{"report-type":"rumour"}"#, r#"{"report-type":null}"#] {
            assert!(MetricsReport::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
