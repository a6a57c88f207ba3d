//! From the object that is there and the one that is wanted to the one to write, if any.
//!
//! The object may have been made by the Go provider, filled in by the API server and labelled by
//! somebody else. `owned.rs` says which parts of each kind are ours: they become what is wanted, also
//! by going away; all else stays as it is, whatever it is. If nothing of ours differs there is
//! nothing to write, so that a restart or an upgrade leaves every object alone.
//!
//! Objects are JSON here, because types would lose the fields of a newer API server. They are
//! replaced with the `resourceVersion` that was read, not applied by the server: live workloads name
//! a container port twice, which server-side apply refuses.

mod owned;
mod walk;

#[cfg(test)]
mod tests;

use serde_json::Value;

use owned::parts_of;

/// What is to be done with an object that is there.
#[derive(Clone, Debug, PartialEq)]
pub enum Merged {
    /// Nothing.
    Unchanged,
    /// It is to be replaced by this one.
    Replace(Value),
}

/// Why the objects are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// To see whether what runs is what should run. When a hostname was last declared is no
    /// difference.
    Adopt,
    /// The tenant sent a manifest. Hostnames are declared anew, so that they are served with new
    /// options.
    Update,
}

/// Why two objects cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// They are not the same object.
    #[error("{existing} is there where {wanted} is wanted")]
    NotTheSame {
        /// What is there.
        existing: String,
        /// What is wanted.
        wanted: String,
    },
    /// Nobody said which parts of such an object are ours.
    #[error("objects of kind {kind:?} are not the provider's to write")]
    Kind {
        /// The kind.
        kind: String,
    },
}

/// What to write so that `existing` becomes `wanted` as far as it is ours.
///
/// # Errors
///
/// When they are not the same object, or none of a kind that the provider writes.
pub fn merge(existing: &Value, wanted: &Value, occasion: Occasion) -> Result<Merged, MergeError> {
    let (there, here) = (title(existing), title(wanted));
    if there != here {
        return Err(MergeError::NotTheSame { existing: there, wanted: here });
    }
    let kind = text(wanted, "/kind");
    let parts =
        parts_of(kind, occasion).ok_or_else(|| MergeError::Kind { kind: kind.to_owned() })?;
    let wanted = walk::with_aliases(wanted.clone());
    match walk::merged(Some(existing), Some(&wanted), &parts) {
        Some(merged) if merged != *existing => Ok(Merged::Replace(merged)),
        _ => Ok(Merged::Unchanged),
    }
}

fn title(object: &Value) -> String {
    let part = |pointer| text(object, pointer);
    format!("{} {}/{}", part("/kind"), part("/metadata/namespace"), part("/metadata/name"))
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
