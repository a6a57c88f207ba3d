//! The walk of a deployment, from an SDL to services that answer.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use akash_chain::tx::message::deployment::{CreateDeployment, create_deployment};
use akash_chain::tx::message::market::create_lease;
use akash_keys::SecretKey;
use akash_sdl::Sdl;
use akash_types::{Address, Coin, DeploymentId, Deposit, DepositSource, LeaseId};
use anyhow::{Context, bail};
use provider_api::client::{Client, ClientError};
use provider_api::status::LeaseStatus;

use super::look::{Wanted, look, missing, providers, wanted};
use super::outcome::{Leased, Outcome, Progress};
use super::plan::{GroupSeen, Offer, Patience, Pick, Seen, Step, Waited, next};
use super::{ask, outcome};
use crate::chain::Wallet;
use crate::commands::tenant::AuthType;
use crate::commands::tenant::door::{Door, Identity};
use crate::commands::tx::least_deposit;
use crate::console::Streams;
use crate::output::{counted, printable};

/// From one look to the next.
const PAUSE: Duration = Duration::from_millis(300);

/// A deployment that is to run.
pub(crate) struct Job<'a> {
    pub(crate) wallet: &'a Wallet<'a>,
    pub(crate) secret: &'a SecretKey,
    pub(crate) home: &'a Path,
    pub(crate) id: DeploymentId,
    pub(crate) sdl: &'a Sdl,
    pub(crate) deposit: Option<Coin>,
    pub(crate) pick: Pick,
    pub(crate) auth: AuthType,
    /// For bids at all, and for services to be ready.
    pub(crate) timeout: Duration,
    pub(crate) bid_wait: Duration,
    /// How long a block takes, once it was asked: the same wherever it shows.
    pub(crate) block_time: OnceCell<Option<Duration>>,
}

impl Job<'_> {
    /// Goes on from wherever the deployment is, until every service is ready.
    pub(crate) async fn run(
        &self,
        progress: &Progress,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Outcome> {
        let leases = self.lease(progress, streams).await?;
        let mut clients = self.clients(&leases).await?;
        self.send(&mut clients, progress, streams).await?;
        let statuses = self.follow(&leases, &clients, progress, streams).await?;
        self.outcome(leases, statuses).await
    }

    /// Creates what is missing up to leases of every group.
    async fn lease(
        &self,
        progress: &Progress,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Vec<LeaseId>> {
        let patience = Patience { more: self.bid_wait, first: self.timeout };
        let mut waiting = Waiting::default();
        loop {
            let seen = look(self.wallet.network, self.id, self.sdl.version().as_bytes()).await;
            let seen = match seen {
                // A node that is away for a moment has not lost what was ordered.
                Err(_) if waiting.is_within(self.timeout) => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                seen => seen?,
            };
            match next(&seen, self.pick, patience, waiting.waited()) {
                Step::Create => {
                    self.create().await?;
                    progress.done(&format!("deployment {} created", self.id.dseq()), streams);
                }
                Step::Wait { complete } => {
                    if waiting.begins() {
                        progress.waiting("waiting for bids", streams);
                    }
                    waiting.goes_on(complete);
                    tokio::time::sleep(PAUSE).await;
                }
                Step::Lease(offers) => {
                    if let Seen::Active(groups) = &seen {
                        self.tell_bids(groups, progress, streams).await?;
                    }
                    self.accept(&offers, progress, streams).await?;
                }
                Step::Ask(groups) => {
                    self.tell_bids(&groups, progress, streams).await?;
                    let offers = ask::ask(&groups, streams.console).await?;
                    self.accept(&offers, progress, streams).await?;
                }
                Step::Run(leases) => return Ok(leases),
                Step::GiveUp(reason) => bail!("deployment {}: {reason}", self.id.dseq()),
            }
        }
    }

    async fn create(&self) -> anyhow::Result<()> {
        let groups = self.sdl.groups().to_vec();
        let coin = match &self.deposit {
            Some(coin) => coin.clone(),
            None => least_deposit(self.wallet.network, &groups).await?,
        };
        let sources = vec![DepositSource::Grant, DepositSource::Balance];
        let message = create_deployment(CreateDeployment {
            id: self.id,
            groups,
            hash: *self.sdl.version().as_bytes(),
            deposit: Deposit::new(coin, sources)?,
            reclamation_min_window: self.sdl.reclamation_min_window(),
        })?;
        self.wallet.send(&[message]).await.context("cannot create the deployment")
    }

    /// Shows the bids, with what they come to.
    async fn tell_bids(
        &self,
        groups: &[GroupSeen],
        progress: &Progress,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        let open: Vec<GroupSeen> =
            groups.iter().filter(|group| group.lease.is_none()).cloned().collect();
        let count = open.iter().map(|group| group.offers.len()).sum();
        progress.done(&counted(count, "bid"), streams);
        let known = providers(self.wallet.network, &open).await?;
        let block_time = self.block_time().await;
        let text = ask::bids(&open, &known, block_time, &streams.stderr_palette);
        streams.tell(&text);
        Ok(())
    }

    async fn accept(
        &self,
        offers: &[Offer],
        progress: &Progress,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        let messages: Result<Vec<_>, _> =
            offers.iter().map(|offer| create_lease(offer.bid)).collect();
        self.wallet.send(&messages?).await.context("cannot make the lease")?;
        for offer in offers {
            progress.done(&format!("lease with {}", offer.bid.provider()), streams);
        }
        Ok(())
    }

    async fn clients(&self, leases: &[LeaseId]) -> anyhow::Result<BTreeMap<Address, Client>> {
        let providers: BTreeSet<Address> = leases.iter().map(LeaseId::provider).collect();
        let mut clients = BTreeMap::new();
        for provider in providers {
            clients.insert(provider, self.client(provider).await?);
        }
        Ok(clients)
    }

    async fn client(&self, provider: Address) -> anyhow::Result<Client> {
        let network = self.wallet.network;
        let door = Door { network: Some(network), url: None, authorities: network.trust() };
        let identity = Identity::Tenant { secret: self.secret, home: self.home, auth: self.auth };
        door.client(provider, identity).await
    }

    /// Gives the manifest to every provider; one that has not seen its lease yet is asked again.
    async fn send(
        &self,
        clients: &mut BTreeMap<Address, Client>,
        progress: &Progress,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<()> {
        let began = Instant::now();
        for (provider, client) in clients {
            loop {
                match client.send_manifest(self.id.dseq(), self.sdl.manifest()).await {
                    Ok(()) => break,
                    Err(error) if error.may_pass() && began.elapsed() < self.timeout => {
                        tokio::time::sleep(PAUSE).await;
                        // It may have published a new certificate, or moved.
                        *client = self.client(*provider).await?;
                    }
                    Err(error) => return Err(refused(error, *provider)),
                }
            }
        }
        progress.done("manifest sent", streams);
        Ok(())
    }

    /// Watches until every service is ready.
    async fn follow(
        &self,
        leases: &[LeaseId],
        clients: &BTreeMap<Address, Client>,
        progress: &Progress,
        streams: &mut Streams<'_>,
    ) -> anyhow::Result<Vec<LeaseStatus>> {
        let began = Instant::now();
        let mut told = BTreeMap::new();
        loop {
            let (mut statuses, mut left) = (Vec::new(), BTreeMap::new());
            for lease in leases {
                let client = clients.get(&lease.provider()).context("a lease without a client")?;
                match client.lease_status(*lease).await {
                    Ok(status) => {
                        left.append(&mut missing(&self.services(*lease), &status));
                        statuses.push(status);
                    }
                    // Not there yet, or not reachable just now: neither says that it failed.
                    Err(ClientError::Refused { status: 404, .. }) => {
                        left.insert(
                            format!("group {}", lease.gseq()),
                            "nothing deployed yet".to_owned(),
                        );
                    }
                    Err(error) if error.may_pass() => {
                        left.insert(format!("group {}", lease.gseq()), error.to_string());
                    }
                    Err(error) => return Err(refused(error, lease.provider())),
                }
            }
            if left.is_empty() {
                let count = leases.iter().map(|lease| self.services(*lease).len()).sum();
                progress.done(&format!("{} ready", counted(count, "service")), streams);
                return Ok(statuses);
            }
            if began.elapsed() >= self.timeout {
                let why: Vec<String> =
                    left.iter().map(|(name, why)| format!("{name}: {}", printable(why))).collect();
                bail!("not ready after {} s: {}", self.timeout.as_secs(), why.join("; "));
            }
            for (name, why) in &left {
                if told.insert(name.clone(), why.clone()).as_ref() != Some(why) {
                    progress.waiting(&format!("{name}: {}", printable(why)), streams);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The services that a lease is for. Groups of a manifest stand in the order of their numbers.
    fn services(&self, lease: LeaseId) -> Vec<Wanted> {
        let index = usize::try_from(lease.gseq()).ok().and_then(|gseq| gseq.checked_sub(1));
        let spec = index.and_then(|index| self.sdl.groups().get(index));
        let groups = &self.sdl.manifest().groups;
        let group = spec.and_then(|spec| groups.iter().find(|group| group.name == spec.name));
        group.map(wanted).unwrap_or_default()
    }

    async fn outcome(
        &self,
        leases: Vec<LeaseId>,
        statuses: Vec<LeaseStatus>,
    ) -> anyhow::Result<Outcome> {
        let query = self.wallet.network.query();
        let block_time = self.block_time().await;
        let mut leased = Vec::new();
        for (lease, status) in leases.into_iter().zip(statuses) {
            let found = query.lease(lease).await?.value;
            let price = found.with_context(|| format!("lease {lease} is gone"))?.lease.price;
            leased.push(Leased { id: lease, price, status });
        }
        let account = query.deployment(self.id).await?.value.and_then(|found| found.account);
        let lasts = account.zip(leased.first()).and_then(|(account, first)| {
            let denom = first.price.denom();
            let funds = account.funds.iter().find(|fund| fund.denom == *denom)?.amount;
            let prices = leased.iter().map(|leased| leased.price.amount());
            let rate = prices.reduce(|sum, price| sum.checked_add(price).unwrap_or(sum))?;
            outcome::lasts(funds, rate, block_time?)
        });
        Ok(Outcome { id: self.id, leased, block_time, lasts })
    }

    async fn block_time(&self) -> Option<Duration> {
        if let Some(known) = self.block_time.get() {
            return *known;
        }
        let network = self.wallet.network;
        let height = network.node().status().await.ok()?.latest_height;
        let found = network.block_time(height).await;
        *self.block_time.get_or_init(|| found)
    }
}

/// How long bids were waited for.
#[derive(Debug, Default)]
struct Waiting {
    began: Option<Instant>,
    complete: Option<Instant>,
}

impl Waiting {
    fn waited(&self) -> Waited {
        Waited {
            at_all: self.began.map(|began| began.elapsed()).unwrap_or_default(),
            for_more: self.complete.map(|began| began.elapsed()),
        }
    }

    /// Whether it has begun, and not for longer than this.
    fn is_within(&self, limit: Duration) -> bool {
        self.began.is_some_and(|began| began.elapsed() < limit)
    }

    /// Whether this is the first time.
    fn begins(&mut self) -> bool {
        let first = self.began.is_none();
        self.began.get_or_insert_with(Instant::now);
        first
    }

    fn goes_on(&mut self, complete: bool) {
        self.complete = complete.then(|| self.complete.unwrap_or_else(Instant::now));
    }
}

fn refused(error: ClientError, provider: Address) -> anyhow::Error {
    let hint = crate::commands::tenant::hint(&error);
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    let error = printable(&format!("{:#}", anyhow::Error::new(error)));
    anyhow::anyhow!("provider {provider}: {error}{hint}")
}
