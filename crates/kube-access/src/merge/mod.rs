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
//!
//! Three parts of a pod template are ours and never a difference by themselves. The revision label:
//! Go providers before #434 write the `Manifest`'s version there, newer ones write nothing or keep
//! what they find; both leave the current value alone. The architecture: it stays as it is, absent or
//! not, when nodes of another architecture come or go, and follows the cluster when the template
//! changes anyway. Settings that stand in templates: the driver keeps those.

mod owned;

#[cfg(test)]
mod tests;

use provider_crd::labels::{NODE_ARCH, REVISION};
use serde_json::Value;

use owned::parts_of;

/// What is to be done with an object that is there.
#[derive(Clone, Debug, PartialEq)]
pub enum Merged {
    Unchanged,
    Replace(Value),
}

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
    #[error("{existing} is there where {wanted} is wanted")]
    NotTheSame { existing: String, wanted: String },
    #[error("objects of kind {kind:?} are not the provider's to write")]
    Kind { kind: String },
}

/// What to write so that `existing` becomes `wanted` as far as it is ours.
pub fn merge(existing: &Value, wanted: &Value, occasion: Occasion) -> Result<Merged, MergeError> {
    let (there, here) = (title(existing), title(wanted));
    if there != here {
        return Err(MergeError::NotTheSame { existing: there, wanted: here });
    }
    let kind = text(wanted, "/kind");
    let parts =
        parts_of(kind, occasion).ok_or_else(|| MergeError::Kind { kind: kind.to_owned() })?;
    let wanted = owned::with_aliases(wanted.clone());
    match owned::merged(Some(existing), Some(&wanted), &parts) {
        Some(mut merged) => {
            keep_template(existing, &mut merged);
            let is_changed = merged != *existing;
            Ok(if is_changed { Merged::Replace(merged) } else { Merged::Unchanged })
        }
        None => Ok(Merged::Unchanged),
    }
}

/// Keeps the pod template of `existing` if only its revision label and the architecture in its
/// affinity differ, absent or old: a new value would restart every pod. A template that changes
/// anyway takes the wanted values.
fn keep_template(existing: &Value, merged: &mut Value) {
    const TEMPLATE: &str = "/spec/template";
    let revision = |template: &Value| template.pointer("/metadata/labels")?.get(REVISION).cloned();
    let (Some(old), Some(new)) = (existing.pointer(TEMPLATE), merged.pointer_mut(TEMPLATE)) else {
        return;
    };
    let wanted = new.clone();
    set_revision(new, revision(old));
    let mut any_arch = old.clone();
    remove_arch(new);
    remove_arch(&mut any_arch);
    *new = if *new == any_arch { old.clone() } else { wanted };
}

/// Removes what an affinity says about the architecture of nodes.
fn remove_arch(template: &mut Value) {
    const TERMS: &str = "/spec/affinity/nodeAffinity/\
                         requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let terms = template.pointer_mut(TERMS).and_then(Value::as_array_mut);
    for term in terms.into_iter().flatten() {
        let expressions = term.get_mut("matchExpressions").and_then(Value::as_array_mut);
        if let Some(expressions) = expressions {
            expressions.retain(|it| it.get("key").and_then(Value::as_str) != Some(NODE_ARCH));
        }
    }
}

fn set_revision(template: &mut Value, revision: Option<Value>) {
    let labels = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut);
    if let Some(labels) = labels {
        match revision {
            Some(revision) => labels.insert(REVISION.to_owned(), revision),
            None => labels.remove(REVISION),
        };
    }
}

fn title(object: &Value) -> String {
    let part = |pointer| text(object, pointer);
    format!("{} {}/{}", part("/kind"), part("/metadata/namespace"), part("/metadata/name"))
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
