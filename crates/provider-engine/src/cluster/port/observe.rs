//! Seeing what is there.

use std::future::Future;

use crate::cluster::view::ViewChange;

/// Watches the cluster.
pub trait Observe: Send + Sync {
    /// What [`Observe::observe`] gives.
    type Changes: Changes + 'static;

    /// Begins to watch. There is no failure: a cluster that does not answer is what
    /// [`Changes::next`] tells first.
    fn observe(&self) -> Self::Changes;
}

/// What is seen, in order.
///
/// The first is [`ViewChange::Whole`], or [`ViewChange::Lost`] while the cluster does not answer.
/// After `Lost` the next is `Whole`. It never ends by itself, and it reconnects by itself, without
/// haste.
pub trait Changes: Send {
    /// Waits for the next change. Dropping the future loses none.
    fn next(&mut self) -> impl Future<Output = ViewChange> + Send;
}
