//! Services that somebody may see.

/// Services that somebody may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Services {
    /// All of them.
    All,
    /// These.
    Only(Vec<String>),
}

impl Services {
    /// These, each once, in the order of their names.
    pub(super) fn only(mut names: Vec<String>) -> Self {
        names.sort_unstable();
        names.dedup();
        Self::Only(names)
    }

    /// Whether this one is among them.
    pub fn include(&self, service: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| name == service),
        }
    }
}
