//! Whether the chain knows the provider.

use std::time::Duration;

use akash_chain::query::{Connection, Node, Query};
use akash_chain::transport::{Endpoint, RpcClient};
use akash_types::Backoff;
use anyhow::bail;
use provider_daemon::config::Config;

/// Between rounds of questions.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_secs(30) };

/// What a node says.
enum Said {
    Yes,
    /// It is not.
    No,
}

/// Asks the nodes, one after the other and as often as it takes, until one of them knows.
pub(super) async fn registered(config: &Config) -> anyhow::Result<()> {
    let mut rounds = 0_u32;
    loop {
        for node in &config.chain.nodes {
            match ask(config, node).await {
                Ok(Said::Yes) => return Ok(()),
                Ok(Said::No) => bail!(
                    "the provider {} is not registered on {}: register it with \
                     `provider-services tx provider create provider.yaml --from …`",
                    config.provider,
                    config.chain.chain_id
                ),
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::warn!(%node, error, "cannot ask whether we are registered");
                }
            }
        }
        rounds = rounds.saturating_add(1);
        let wait = BACKOFF.within(rounds, u64::from(std::process::id()));
        tracing::info!(
            seconds = wait.as_secs(),
            "no node knows whether we are registered; waiting"
        );
        tokio::time::sleep(wait).await;
    }
}

async fn ask(config: &Config, node: &Endpoint) -> anyhow::Result<Said> {
    let limits = config.chain.limits();
    let rpc = RpcClient::new(node.clone(), limits)?;
    let status = Node::new(rpc.clone()).status().await?;
    let wanted = &config.chain.chain_id;
    if status.chain_id != *wanted {
        bail!("it is on chain {}, not on {wanted}; check --node and --chain-id", status.chain_id);
    }
    if status.catching_up {
        bail!("it is catching up, at height {}", status.latest_height);
    }
    let query = Query::new(Connection::new(&rpc, config.chain.grpc.as_ref(), limits)?);
    let found = query.provider(config.provider).await?.value;
    Ok(if found.is_some() { Said::Yes } else { Said::No })
}
