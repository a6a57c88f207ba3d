//! How long the money of a deployment will last.

use akash_chain::query::LeaseFilter;
use akash_types::{Dec, DeploymentId, LeaseState};
use anyhow::{Context, bail};

use super::Found;
use crate::chain::Network;
use crate::output::Document;

/// Asks for leases, account and height, and divides.
pub(super) async fn ask(id: DeploymentId, network: &Network) -> anyhow::Result<Found> {
    let filter = LeaseFilter {
        owner: Some(id.owner()),
        dseq: Some(id.dseq()),
        state: Some(LeaseState::Active),
        ..LeaseFilter::default()
    };
    let leases = network.query().leases(filter).await?.value.items;
    let Some(first) = leases.first() else {
        bail!("no active leases exist for deployment {id}");
    };
    let denom = first.lease.price.denom().clone();
    let mut rate = Dec::from_int(0);
    for info in &leases {
        rate = rate.checked_add(info.lease.price.amount()).context("the prices are too large")?;
    }
    let deployment = network.query().deployment(id).await?.value;
    let account = deployment
        .and_then(|found| found.account)
        .with_context(|| format!("deployment {id} has no escrow account"))?;
    let funds = account.funds.iter().find(|fund| fund.denom == denom);
    let funds = funds.map(|fund| fund.amount).unwrap_or(Dec::from_int(0));
    let status = network.node().status().await?;
    let left = left(funds, rate, status.latest_height, account.settled_at)
        .context("the amounts are too large")?;
    let mut entries = vec![
        ("balance_remaining".to_owned(), Document::Number(plain(left.balance))),
        ("blocks_remaining".to_owned(), Document::Number(left.blocks.to_string())),
    ];
    if let Some(block_time) = network.block_time(status.latest_height).await {
        let nanos = block_time.as_nanos().saturating_mul(u128::try_from(left.blocks).unwrap_or(0));
        entries.push(("estimated_time_remaining".to_owned(), Document::Number(nanos.to_string())));
    }
    Ok(Found::one(Document::Map(entries)))
}

#[derive(Debug, PartialEq, Eq)]
struct Left {
    balance: Dec,
    blocks: i128,
}

/// What is left after the blocks since the account was last settled; never less than nothing.
fn left(funds: Dec, rate: Dec, height: u64, settled_at: u64) -> Option<Left> {
    let due = rate.checked_mul_int(i128::from(height.saturating_sub(settled_at)))?;
    let balance = funds.checked_sub(due)?;
    let balance = if balance.is_negative() { Dec::from_int(0) } else { balance };
    let blocks = match rate.is_zero() {
        true => 0,
        false => balance.checked_quo_truncate(rate)?.truncate_int(),
    };
    Some(Left { balance, blocks })
}

/// A decimal without idle zeros.
fn plain(value: Dec) -> String {
    value.to_string().trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_what_is_there_less_what_is_due() {
        let dec = Dec::from_int;
        let found = left(dec(5_000_000), dec(500), 117, 112).unwrap();
        assert_eq!(found, Left { balance: dec(4_997_500), blocks: 9995 });
        let nothing = left(dec(100), dec(500), 117, 112).unwrap();
        assert_eq!(nothing, Left { balance: dec(0), blocks: 0 });
        assert_eq!(left(dec(100), dec(0), 9, 1).unwrap().blocks, 0);
        assert_eq!(plain(dec(100)), "100");
    }
}
