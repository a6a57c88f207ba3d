//! A second place for the file of the provider's certificate, which outlives the home directory.
//!
//! The text of the file is kept as it is: its key is encrypted for the provider's account, so who
//! keeps it learns nothing.
//!
//! ```text
//! no file ── kept? ── yes ─▶ Restore ──▶ as it was shown before
//!               └──── no ──▶ Make ──▶ Copy
//! a file ─── the same is kept? ── no ─▶ Copy
//! ```
//!
//! A place that does not answer is not an empty one: nothing is made then.

use futures_util::future::BoxFuture;

/// Why a place could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VaultFailure(pub String);

/// Where the text of the file is kept too.
pub trait Vault: Send + Sync + 'static {
    /// What is kept; `None` if nothing is.
    fn read(&self) -> BoxFuture<'_, Result<Option<String>, VaultFailure>>;

    /// Keeps a text in the place of what was kept.
    fn write(&self, text: String) -> BoxFuture<'_, Result<(), VaultFailure>>;
}

/// What is to be done before the certificate is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// File and copy are the same.
    Nothing,
    /// What is kept becomes the file again.
    Restore,
    /// There is neither: a certificate has to be made, and kept.
    Make,
    /// The file is to be kept. Where another one is kept, the file is what was shown last here.
    Copy,
}

pub fn step(file: Option<&str>, kept: Option<&str>) -> Step {
    match (file, kept) {
        (None, None) => Step::Make,
        (None, Some(_)) => Step::Restore,
        (Some(file), Some(kept)) if file == kept => Step::Nothing,
        (Some(_), _) => Step::Copy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_wins_and_what_is_kept_replaces_a_missing_one() {
        for (file, kept, wanted) in [
            (None, None, Step::Make),
            (None, Some("a"), Step::Restore),
            (Some("a"), None, Step::Copy),
            (Some("a"), Some("a"), Step::Nothing),
            (Some("b"), Some("a"), Step::Copy),
        ] {
            assert_eq!(step(file, kept), wanted, "{file:?} {kept:?}");
        }
    }
}
