//! What is told of an import: a line for each thing that was met, and a sum.

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A namespace.
    Namespace,
    /// A table.
    Table,
    /// A view.
    View,
    /// A place in the source: a folder, a list.
    Source,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is here now.
    Imported {
        /// Its metadata file; a namespace has none.
        at: Option<String>,
        /// What the check found and let pass.
        remarks: Vec<String>,
    },
    /// It was here, and has a newer metadata file now.
    Updated {
        /// Its metadata file.
        at: String,
        /// What the check found and let pass.
        remarks: Vec<String>,
    },
    /// It was here already, as it is in the source or newer.
    Present,
    /// It was here already, and the source has a newer metadata file.
    Behind {
        /// The metadata file here.
        here: String,
        /// The metadata file in the source.
        there: String,
    },
    /// Something else has its name.
    Conflict(String),
    /// It could not be imported.
    Failed(String),
    /// It was left out, and that is as it should be.
    Note(String),
}

/// What became of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub what: What,
    /// Its name.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
}

impl Line {
    /// The line as text, and a line of its own for each remark. A dry run says what would be.
    pub fn lines(&self, dry_run: bool) -> Vec<String> {
        let what = match self.what {
            What::Namespace => "namespace ",
            What::Table => "table ",
            What::View => "view ",
            What::Source => "",
        };
        let (word, rest, remarks) = match &self.outcome {
            Outcome::Imported { at, remarks } => {
                let at = at.as_ref().map_or_else(String::new, |at| format!(" at {at}"));
                (if dry_run { "would import" } else { "imported" }, at, remarks.as_slice())
            }
            Outcome::Updated { at, remarks } => {
                (if dry_run { "would update" } else { "updated" }, format!(" to {at}"), remarks.as_slice())
            }
            Outcome::Present => ("present", String::new(), &[][..]),
            Outcome::Behind { here, there } => {
                ("behind", format!(": here at {here}, in the source at {there}; --update moves it on"), &[][..])
            }
            Outcome::Conflict(why) => ("conflict", format!(": {why}"), &[][..]),
            Outcome::Failed(why) => ("failed", format!(": {why}"), &[][..]),
            Outcome::Note(why) => ("note", format!(": {why}"), &[][..]),
        };
        let first = format!("{word} {what}{}{rest}", self.name);
        std::iter::once(first).chain(remarks.iter().map(|remark| format!("  {remark}"))).collect()
    }
}

/// How many of what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    tables: usize,
    views: usize,
    namespaces: usize,
    updated: usize,
    present: usize,
    behind: usize,
    conflicts: usize,
    failed: usize,
}

impl Tally {
    /// Counts a line.
    pub fn count(&mut self, line: &Line) {
        let counter = match (&line.outcome, line.what) {
            (Outcome::Imported { .. }, What::Table) => &mut self.tables,
            (Outcome::Imported { .. }, What::View) => &mut self.views,
            (Outcome::Imported { .. }, What::Namespace) => &mut self.namespaces,
            (Outcome::Updated { .. }, _) => &mut self.updated,
            (Outcome::Present, _) => &mut self.present,
            (Outcome::Behind { .. }, _) => &mut self.behind,
            (Outcome::Conflict(_), _) => &mut self.conflicts,
            (Outcome::Failed(_), _) => &mut self.failed,
            (Outcome::Note(_), _) | (Outcome::Imported { .. }, What::Source) => return,
        };
        *counter += 1;
    }

    /// Whether everything that the source has is here as it is there, or newer.
    pub fn is_complete(&self) -> bool {
        self.behind + self.conflicts + self.failed == 0
    }

    /// The sum: `imported 12 tables, 2 views, 3 namespaces; 1 already there; 1 failed`.
    pub fn sum(&self, dry_run: bool) -> String {
        let verb = if dry_run { "would import" } else { "imported" };
        let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
        let mut parts = vec![format!(
            "{verb} {}, {}, {}",
            count(self.tables, "table", "tables"),
            count(self.views, "view", "views"),
            count(self.namespaces, "namespace", "namespaces")
        )];
        for (number, text) in [
            (self.updated, if dry_run { "to be updated" } else { "updated" }),
            (self.behind, "behind the source"),
            (self.conflicts, "in conflict"),
        ] {
            if number > 0 {
                parts.push(format!("{number} {text}"));
            }
        }
        parts.push(format!("{} already there", self.present));
        parts.push(format!("{} failed", self.failed));
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(what: What, outcome: Outcome) -> Line {
        Line { what, name: "a.t".to_owned(), outcome }
    }

    fn imported() -> Outcome {
        Outcome::Imported { at: Some("gs://b/v1.metadata.json".to_owned()), remarks: vec!["warning: x".to_owned()] }
    }

    #[test]
    fn a_line_says_what_became_of_what() {
        let there = line(What::Table, imported());
        assert_eq!(there.lines(false), ["imported table a.t at gs://b/v1.metadata.json", "  warning: x"]);
        assert_eq!(there.lines(true), ["would import table a.t at gs://b/v1.metadata.json", "  warning: x"]);
        assert_eq!(line(What::View, Outcome::Present).lines(true), ["present view a.t"]);
        assert_eq!(line(What::Source, Outcome::Failed("no".to_owned())).lines(false), ["failed a.t: no"]);
    }

    #[test]
    fn the_sum_counts_what_is_here_and_what_is_not() {
        let mut tally = Tally::default();
        for (what, outcome) in [
            (What::Table, imported()),
            (What::Table, imported()),
            (What::View, imported()),
            (What::Namespace, Outcome::Present),
            (What::Source, Outcome::Note(String::new())),
        ] {
            tally.count(&line(what, outcome));
        }
        assert_eq!(tally.sum(false), "imported 2 tables, 1 view, 0 namespaces; 1 already there; 0 failed");
        assert!(tally.is_complete());
        tally.count(&line(What::Table, Outcome::Behind { here: String::new(), there: String::new() }));
        tally.count(&line(What::Table, Outcome::Conflict(String::new())));
        tally.count(&line(What::Table, Outcome::Updated { at: String::new(), remarks: Vec::new() }));
        assert_eq!(
            tally.sum(true),
            "would import 2 tables, 1 view, 0 namespaces; 1 to be updated; 1 behind the source; 1 in conflict; \
             1 already there; 0 failed"
        );
        assert!(!tally.is_complete());
    }
}
