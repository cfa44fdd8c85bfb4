//! How names of namespaces, tables and views are told apart: as they are written, or in any case.
//!
//! On a server that takes names in any case they are in lower case from where they are read, as Trino and Hive's metastore
//! keep theirs: what is behind ([`crate::commit`], [`crate::store`], grants) compares them as they are. Everything that
//! reads names from outside sends them through [`App::names`].

use super::App;
use crate::spec::{
    CommitTableRequest, CommitViewRequest, CreateTableRequest, CreateViewRequest, Namespace, TableIdent,
};

/// What names namespaces, tables or views.
pub trait Names {
    /// Spells the names in lower case.
    fn lower(&mut self);
}

impl App {
    /// What was read from outside, with names as this server keeps them.
    pub fn names<T: Names>(&self, mut read: T) -> T {
        if self.config.names_in_any_case {
            read.lower();
        }
        read
    }
}

impl Names for Namespace {
    fn lower(&mut self) {
        *self = self.to_lowercase();
    }
}

impl Names for TableIdent {
    fn lower(&mut self) {
        *self = self.to_lowercase();
    }
}

/// The name of a table or view within its namespace.
impl Names for String {
    fn lower(&mut self) {
        *self = self.to_lowercase();
    }
}

impl<T: Names> Names for Option<T> {
    fn lower(&mut self) {
        self.iter_mut().for_each(Names::lower);
    }
}

impl Names for CreateTableRequest {
    fn lower(&mut self) {
        self.name.lower();
    }
}

impl Names for CommitTableRequest {
    fn lower(&mut self) {
        self.identifier.lower();
    }
}

impl Names for CreateViewRequest {
    fn lower(&mut self) {
        self.name.lower();
    }
}

impl Names for CommitViewRequest {
    fn lower(&mut self) {
        self.identifier.lower();
    }
}
