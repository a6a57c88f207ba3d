//! Creating a deployment.

use std::time::Duration;

use akash_proto::akash::deployment::v1beta4 as wire;
use akash_types::{
    Address, DeploymentId, DeploymentState, Deposit, EscrowAccountId, EscrowScope, GroupId,
    GroupSpec, GroupState, validate_group, validate_groups,
};

use super::{
    Deployment, EMPTY_HASH, EXISTS, GROUP_SPEC_INVALID, Group, INVALID_DEPOSIT, INVALID_GROUPS,
    INVALID_HASH, INVALID_PRICE, INVALID_RECLAMATION, Spec, duration,
};
use crate::state::error::Outcome;
use crate::state::escrow::parse_deposit;
use crate::state::events::Event;
use crate::state::gas::Step;
use crate::state::keys;
use crate::state::keys::{DeploymentKey, GroupKey};
use crate::state::msg::{Message, signer};
use crate::state::run::Exec;

/// Creates a deployment with its groups, an order for each, and its account.
pub(crate) struct CreateDeployment {
    id: DeploymentId,
    specs: Vec<Spec>,
    groups: Vec<GroupSpec>,
    hash: [u8; 32],
    deposit: Deposit,
    reclamation: Option<Duration>,
}

impl Message for CreateDeployment {
    type Wire = wire::MsgCreateDeployment;

    fn parse(wire: wire::MsgCreateDeployment) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.owner))?;
        let id = keys::deployment(wire.id)?;
        let deposit = parse_deposit(wire.deposit)?;
        if wire.groups.is_empty() {
            return Err(INVALID_GROUPS.into());
        }
        let hash = parse_hash(&wire.hash)?;
        let reclamation = match wire.reclamation {
            None => None,
            Some(reclamation) => {
                let window = duration(reclamation.min_window.unwrap_or_default());
                let negative = || INVALID_RECLAMATION.wrap("min_window must be >= 0");
                Some(window.ok_or_else(negative)?)
            }
        };
        let mut groups = Vec::with_capacity(wire.groups.len());
        let mut specs = Vec::with_capacity(wire.groups.len());
        for (index, spec) in wire.groups.into_iter().enumerate() {
            let spec = Spec::new(spec);
            let group = spec.parse().map_err(|error| GROUP_SPEC_INVALID.detail(error))?;
            if let Some(violation) = validate_group(index, &group).into_iter().next() {
                return Err(GROUP_SPEC_INVALID.detail(violation));
            }
            let price = group.total_price().map_err(|error| GROUP_SPEC_INVALID.detail(error))?;
            if !deposit.coin().is_zero() && price.denom() != deposit.coin().denom() {
                let (deposited, priced) = (deposit.coin().denom(), price.denom());
                return Err(INVALID_DEPOSIT
                    .wrap(format_args!("Mismatched denominations ({deposited} != {priced})")));
            }
            groups.push(group);
            specs.push(spec);
        }
        Ok(Self { id, specs, groups, hash, deposit, reclamation })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.step(Step::Lookup)?;
        if exec.tables.deployments.contains(&DeploymentKey::from(self.id)) {
            return Err(EXISTS.into());
        }
        self.check_deposit(exec)?;
        self.check_reclamation(exec)?;
        if let Some(violation) = validate_groups(&self.groups).into_iter().next() {
            return Err(INVALID_GROUPS.wrap(violation));
        }
        if let Some(unit) = self.groups.first().and_then(|group| group.resources.first())
            && unit.price.denom().as_str() != "uact"
        {
            let denom = unit.price.denom();
            return Err(INVALID_PRICE.wrap(format_args!("unsupported denomination {denom}")));
        }
        let owner = self.id.owner();
        let deposits = exec.authorize_deposit(owner, EscrowScope::Deployment, &self.deposit)?;
        let created_at = exec.block.height;
        exec.step(Step::DeploymentCreate)?;
        exec.tables.put_deployment(Deployment {
            id: self.id,
            state: DeploymentState::Active,
            hash: self.hash,
            created_at,
            reclamation: self.reclamation,
        });
        let mut groups = Vec::with_capacity(self.specs.len());
        for (gseq, spec) in (1..).zip(&self.specs) {
            exec.step(Step::GroupCreate)?;
            let id = GroupId::new(self.id, gseq).map_err(|error| INVALID_GROUPS.wrap(error))?;
            let group = Group { id, state: GroupState::Open, spec: spec.clone(), created_at };
            exec.tables.groups.insert(GroupKey::from(id), group.clone());
            groups.push(group);
        }
        exec.emit(Event::deployment_created(self.id, &self.hash));
        for group in &groups {
            exec.create_order(group, self.reclamation)?;
        }
        exec.account_create(EscrowAccountId::Deployment(self.id), owner, deposits)
    }
}

impl CreateDeployment {
    fn check_deposit(&self, exec: &Exec) -> Outcome {
        let coin = self.deposit.coin();
        let denom = coin.denom();
        let minimums = &exec.params().deployment.min_deposits;
        let Some(minimum) = minimums.iter().find(|minimum| minimum.denom() == denom) else {
            return Err(
                INVALID_DEPOSIT.detail(format_args!("Invalid deposit denomination {denom}"))
            );
        };
        if coin.amount() < minimum.amount() {
            let amount = coin.amount();
            return Err(
                INVALID_DEPOSIT.wrap(format_args!("Deposit too low - {amount} < {minimum}"))
            );
        }
        // Coins of the chain itself may only be added to what exists.
        if denom.as_str() == "uakt" { Err(INVALID_DEPOSIT.into()) } else { Ok(()) }
    }

    fn check_reclamation(&self, exec: &Exec) -> Outcome {
        let market = &exec.params().market;
        match self.reclamation {
            Some(window) if window < market.min_reclamation_window => {
                Err(INVALID_RECLAMATION.wrap("min_window below governance minimum"))
            }
            Some(window) if window > market.max_reclamation_window => {
                Err(INVALID_RECLAMATION.wrap("min_window above governance maximum"))
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn parse_hash(hash: &[u8]) -> Outcome<[u8; 32]> {
    if hash.is_empty() {
        return Err(EMPTY_HASH.into());
    }
    Ok(hash.try_into().map_err(|_| INVALID_HASH)?)
}
