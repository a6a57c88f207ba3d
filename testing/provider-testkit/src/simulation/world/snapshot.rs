//! Questions to one state of the chain, through the client's own typed queries.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use akash_chain::query::{Failure, NoAnswer, Query, Reply, Transport};
use akash_devnet::state::{GrpcCode, State};
use bytes::Bytes;

/// A node that has this state and no other.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot(pub(crate) State);

impl Snapshot {
    /// Typed questions to it.
    pub(crate) const fn query(state: State) -> Query<Self> {
        Query::new(Self(state))
    }
}

impl Transport for Snapshot {
    async fn unary(&self, path: &str, request: Vec<u8>) -> Result<Reply, NoAnswer> {
        let height = Some(self.0.height());
        let failure = match self.0.query(path, &request) {
            Ok(bytes) => return Ok(Reply { bytes: Bytes::from(bytes), height }),
            Err(error) if error.grpc_code() == GrpcCode::NotFound => {
                Failure::NotFound { text: error.grpc_text() }
            }
            Err(error) => Failure::Rejected {
                codespace: "sdk".to_owned(),
                code: error.grpc_code().number().unsigned_abs(),
                text: error.grpc_text(),
            },
        };
        Err(NoAnswer { failure, height })
    }
}

/// The result of a future that never waits; `None` if it does.
pub(crate) fn now<F: Future>(future: F) -> Option<F::Output> {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
