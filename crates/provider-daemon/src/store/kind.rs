//! Names of decisions.

use provider_engine::journal::Decision;

/// A name of what was decided, for the journal and for metrics. Names do not change.
pub const fn kind(decision: &Decision) -> &'static str {
    match decision {
        Decision::Noticed => "noticed",
        Decision::Declined(_) => "declined",
        Decision::Reserved(_) => "reserved",
        Decision::Bid(_) => "bid",
        Decision::BidOpen { .. } => "bid_open",
        Decision::Failed { .. } => "failed",
        Decision::CloseBid(_) => "close_bid",
        Decision::Ended(_) => "ended",
        Decision::Won(_) => "won",
        Decision::Adopted { .. } => "adopted",
        Decision::Accepted { .. } => "accepted",
        Decision::Refused { .. } => "refused",
        Decision::Deploy => "deploy",
        Decision::DeployFailed { .. } => "deploy_failed",
        Decision::Healthy => "healthy",
        Decision::Unhealthy(_) => "unhealthy",
        Decision::Close(_) => "close",
        Decision::Spared { .. } => "spared",
        Decision::Reclaim => "reclaim",
        Decision::Teardown(_) => "teardown",
        Decision::Gone => "gone",
        Decision::Withdraw { .. } => "withdraw",
        Decision::Earned { .. } => "earned",
        Decision::Withheld(_) => "withheld",
        Decision::Moved(_) => "moved",
        Decision::Escrow { .. } => "escrow",
        Decision::Drift(_) => "drift",
        Decision::BreakerOpen { .. } => "breaker_open",
        Decision::BreakerShut => "breaker_shut",
        Decision::Maintenance(_) => "maintenance",
        Decision::Isolation(_) => "isolation",
        Decision::ClusterKnown { .. } => "cluster_known",
        Decision::ClusterUnknown { .. } => "cluster_unknown",
        Decision::Rival { .. } => "rival",
        Decision::Wallet { .. } => "wallet",
        Decision::Operator { .. } => "operator",
    }
}
