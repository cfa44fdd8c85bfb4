//! Logs and metrics of the process.

use crate::config::{Config, LogFormat};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::fmt::{self, Debug};
use std::sync::OnceLock;
use std::time::Duration;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

/// How often measurements are summed up.
const SUMMED_UP_EVERY: Duration = Duration::from_secs(5);

/// Starts logging to standard error; a second call (as tests make) changes nothing.
pub fn start_logs(config: &Config) {
    let filter = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let _already_started = match config.log_format {
        LogFormat::Text => logs.fmt_fields(fields()).try_init(),
        LogFormat::Json => logs.json().flatten_event(true).try_init(),
    };
}

/// How fields are written in text: control characters are escaped, for what clients write (names of tables, say) must not
/// look like a line of its own.
fn fields() -> impl for<'w> FormatFields<'w> + Send + Sync + 'static {
    debug_fn(|writer: &mut Writer<'_>, field: &Field, value: &dyn Debug| -> fmt::Result {
        if field.name() != "message" {
            write!(writer, "{}=", field.name())?;
        }
        for c in format!("{value:?}").chars() {
            if c.is_control() {
                write!(writer, "{}", c.escape_default())?;
            } else {
                writer.write_char(c)?;
            }
        }
        Ok(())
    })
    .delimited(" ")
}

/// The process's metrics, to be rendered by `/metrics`. `None` when another recorder was installed first.
pub fn metrics() -> Option<&'static PrometheusHandle> {
    static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    HANDLE.get_or_init(|| PrometheusBuilder::new().install_recorder().ok()).as_ref()
}

/// Sums up what was measured, for ever: where nobody asks for `/metrics`, single measurements would pile up.
pub async fn keep_metrics_small() {
    let Some(metrics) = metrics() else { return };
    loop {
        tokio::time::sleep(SUMMED_UP_EVERY).await;
        metrics.run_upkeep();
    }
}

/// An error and its causes, outermost first, on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_clients_write_is_no_line_of_the_log() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let writer = Arc::new(file.reopen().unwrap());
        let log = tracing_subscriber::fmt().with_ansi(false).fmt_fields(fields()).with_writer(writer);
        tracing::subscriber::with_default(log.finish(), || {
            let _span = tracing::info_span!("request", path = %"p\nFORGED").entered();
            tracing::warn!(table = %"a\nFORGED \u{1b}[2J", plain = "x\nFORGED", "not checked: {}", "m\r\nFORGED");
        });
        let said = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(said.matches("FORGED").count(), 4, "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!said.trim_end().contains(char::is_control), "{said}");
        assert!(said.contains(r"not checked: m\r\nFORGED table=a\nFORGED"), "{said}");
    }
}
