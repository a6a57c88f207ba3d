//! What is wrong with an SDL, told as a person would look for it.

use std::fmt;

/// A position in the source, both counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
#[display("line {}, column {}", self.line, self.column)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// One thing that is wrong, or that stricter tools would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the document's structure, e.g. `services.web.expose[0].port`; empty for the
    /// document as a whole.
    pub path: String,
    /// Where in the text.
    pub place: Place,
    /// What was wrong.
    pub message: String,
    /// What would be right, where that is not plain from the message.
    pub allowed: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.place.line, self.place.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)?;
        if let Some(allowed) = &self.allowed {
            write!(f, " ({allowed})")?;
        }
        Ok(())
    }
}

/// All that is wrong with one SDL, in the order of the text. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdlErrors {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl SdlErrors {
    /// Sorts by place and drops what was found twice; `None` when there is nothing wrong.
    pub(crate) fn new(mut problems: Vec<Problem>, warnings: &[Problem]) -> Option<Self> {
        problems
            .sort_by(|a, b| (a.place, &a.path, &a.message).cmp(&(b.place, &b.path, &b.message)));
        problems.dedup();
        (!problems.is_empty()).then(|| Self { problems, warnings: warnings.to_vec() })
    }

    pub(crate) fn one(problem: Problem) -> Self {
        Self { problems: vec![problem], warnings: Vec::new() }
    }

    /// The problems, at least one.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// What stricter tools would refuse besides.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}

impl fmt::Display for SdlErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SdlErrors {}

/// A path into the document, kept on the stack while decoding goes down and written out only
/// when something is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(crate) const ROOT: Path<'static> = Path { parent: None, step: Step::Root };

    pub(crate) fn key(&'p self, key: &'p str) -> Path<'p> {
        Path { parent: Some(self), step: Step::Key(key) }
    }

    pub(crate) fn index(&'p self, index: usize) -> Path<'p> {
        Path { parent: Some(self), step: Step::Index(index) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Key(key) => {
                if self.parent.is_some_and(|parent| !matches!(parent.step, Step::Root)) {
                    f.write_str(".")?;
                }
                write_key(f, key)
            }
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// Keys that would make the path ambiguous are quoted; long ones are cut.
fn write_key(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    let simple = !key.is_empty()
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '/' | '<'));
    if simple && key.len() <= 64 {
        return f.write_str(key);
    }
    let cut: String = key.chars().take(64).collect();
    let dots = if cut.len() < key.len() { "…" } else { "" };
    write!(f, "\"{}{dots}\"", cut.escape_debug())
}

/// Shows a value of the source in a message: quoted, escaped, and cut when long.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 48;
        let cut: String = self.0.chars().take(MOST).collect();
        let dots = if cut.len() < self.0.len() { "…" } else { "" };
        write!(f, "\"{}{dots}\"", cut.escape_debug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_people_write_them() {
        let services = Path::ROOT.key("services");
        let web = services.key("web");
        let expose = web.key("expose");
        let first = expose.index(0);
        assert_eq!(first.key("port").to_string(), "services.web.expose[0].port");
        assert_eq!(services.key("a.b").to_string(), "services.\"a.b\"");
        assert_eq!(Path::ROOT.to_string(), "");
    }

    #[test]
    fn shown_values_are_cut_and_escaped() {
        assert_eq!(Shown("a\nb").to_string(), "\"a\\nb\"");
        assert_eq!(Shown(&"x".repeat(100)).to_string(), format!("\"{}…\"", "x".repeat(48)));
    }
}
