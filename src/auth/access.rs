//! How far a caller may go with a table's files.

/// How far a caller may go with a table's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read and list.
    Read,
    /// Read, list, write and delete.
    ReadWrite,
}
