//! stub
use crate::spec::{AddedSnapshot, TableMetadata};
use bytes::Bytes;
use std::future::Future;
use std::ops::Range;
#[derive(Debug, Clone, Default)]
pub struct Levels;
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct UnknownRule;
impl Levels {
    pub fn set(&mut self, _: &str, _: &str) -> Result<(), UnknownRule> {
        Ok(())
    }
}
#[derive(Debug, Clone, serde::Serialize)]
pub struct Violation {
    pub rule: &'static str,
    pub object: String,
    pub message: String,
}
#[derive(Debug)]
pub struct NotChecked {
    pub rule: &'static str,
    pub object: String,
    pub reason: String,
}
#[derive(Debug, Default)]
pub struct Report {
    pub refused: Vec<Violation>,
    pub warnings: Vec<Violation>,
    pub not_checked: Vec<NotChecked>,
    pub row_id_end: Option<i64>,
}
impl Report {
    pub fn message(&self) -> String {
        String::new()
    }
}
#[derive(Debug)]
pub enum ReadError {
    X,
}
pub trait ReadBytes: Send + Sync {
    fn size(&self, l: &str) -> impl Future<Output = Result<u64, ReadError>> + Send;
    fn read(&self, l: &str, r: Option<Range<u64>>) -> impl Future<Output = Result<Bytes, ReadError>> + Send;
}
#[derive(Debug)]
pub struct Cache;
impl Cache {
    pub fn new(_: u64) -> Self {
        Self
    }
}
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct Unavailable {
    pub location: String,
}
pub async fn snapshots<R: ReadBytes>(
    _: &R,
    _: &Cache,
    _: &Levels,
    _: Option<&TableMetadata>,
    _: &TableMetadata,
    _: &[AddedSnapshot],
) -> Result<Report, Unavailable> {
    Ok(Report::default())
}
