//! Blocks on their way to the lane and the engine.

use akash_chain::follow::{FollowStatus, Followed, Follower, ResyncReason};
use akash_chain::transport::RpcClient;
use akash_chain::tx::lane::{LaneBlock, LaneHandle};
use akash_types::Address;
use provider_engine::{Block, Input};
use tokio::sync::watch;

use super::read::{Reader, as_block_time};
use super::{choose, troubles};
use crate::engine_task::Inbox;

/// Why blocks come no more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FollowEnded {
    #[error("following blocks broke down")]
    Follower,
    #[error("the transaction lane has stopped")]
    Lane,
    #[error("the engine has stopped")]
    Engine,
}

/// Passes every block on: to the lane first, so that what the engine wants because of it comes
/// after it there. Signed by `signer`, transactions are ours.
pub(crate) async fn follow(
    mut follower: Follower,
    lane: LaneHandle,
    signer: Address,
    reader: Reader,
    inbox: Inbox,
) -> FollowEnded {
    loop {
        let input = match follower.next().await {
            None => return FollowEnded::Follower,
            Some(Followed::Block(block)) => {
                let ours = LaneBlock::of_followed(&block, signer);
                if lane.block(ours).await.is_err() {
                    return FollowEnded::Lane;
                }
                let events = block.effects.events.into_iter().map(|event| event.event).collect();
                let time = as_block_time(block.time);
                Input::Block(Block { height: block.height, time, events })
            }
            Some(Followed::Resync(resync)) => {
                let (from, height) = (resync.from, resync.to);
                tracing::warn!(from, to = height, reason = ?resync.reason, "blocks are left out");
                let told = match resync.reason {
                    ResyncReason::OtherBranch => lane.rebased(height).await,
                    _ => lane.resynced(height).await,
                };
                if told.is_err() {
                    return FollowEnded::Lane;
                }
                Input::Resync { height, time: reader.time_of(height).await }
            }
        };
        if inbox.tell(input).await.is_err() {
            return FollowEnded::Engine;
        }
    }
}

/// Keeps `rpc` on a node that is well, for as long as there is news of nodes.
pub(crate) async fn keep_choosing(rpc: RpcClient, mut nodes: watch::Receiver<FollowStatus>) {
    let mut current = 0;
    loop {
        let (chosen, words) = {
            let status = nodes.borrow_and_update();
            (choose(&status, current), troubles(&status))
        };
        if let Some(chosen) = chosen.filter(|chosen| *chosen != current) {
            current = chosen;
            rpc.choose(current);
            tracing::warn!(node = %rpc.endpoint(), nodes = words, "asking another node");
        }
        if nodes.changed().await.is_err() {
            return;
        }
    }
}
