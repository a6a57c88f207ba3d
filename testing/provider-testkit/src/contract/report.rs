//! What came of trying a driver.

use std::fmt;

/// How a clause was broken, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach(pub String);

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub type Verdict = Result<(), Breach>;

/// A breach, unless something holds.
pub(super) fn holds(condition: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if condition { Ok(()) } else { Err(Breach(otherwise())) }
}

/// A breach, unless two things are the same.
pub(super) fn same<T: fmt::Debug + PartialEq>(what: &str, found: &T, expected: &T) -> Verdict {
    holds(found == expected, || format!("{what}: expected {expected:?}, found {found:?}"))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub held: Vec<&'static str>,
    /// Clauses that are broken, and how.
    pub broken: Vec<(&'static str, Breach)>,
    /// Clauses that cannot be tried on this cluster.
    pub left_out: Vec<&'static str>,
}

impl Report {
    /// Whether no clause is broken. A report without a clause that holds says nothing, so it is no
    /// as well.
    pub fn is_clean(&self) -> bool {
        self.broken.is_empty() && !self.held.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.held {
            writeln!(f, "held      {name}")?;
        }
        for name in &self.left_out {
            writeln!(f, "left out  {name}")?;
        }
        for (name, breach) in &self.broken {
            writeln!(f, "BROKEN    {name}: {breach}")?;
        }
        Ok(())
    }
}
