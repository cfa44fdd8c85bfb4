//! Logs and metrics of the process.

use crate::config::{Config, LogFormat};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::sync::OnceLock;
use std::time::Duration;
use tracing_subscriber::EnvFilter;

/// How often measurements are summed up.
const SUMMED_UP_EVERY: Duration = Duration::from_secs(5);

/// Starts logging to standard error; a second call (as tests make) changes nothing.
pub fn start_logs(config: &Config) {
    let filter = EnvFilter::try_new(&config.log).unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let _already_started = match config.log_format {
        LogFormat::Text => logs.try_init(),
        LogFormat::Json => logs.json().flatten_event(true).try_init(),
    };
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
