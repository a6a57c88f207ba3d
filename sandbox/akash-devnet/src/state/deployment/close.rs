//! Changing and closing a deployment.

use akash_proto::akash::deployment::v1beta4 as wire;
use akash_types::{
    Address, DeploymentId, DeploymentState, EscrowAccountId, EscrowState, GroupState,
};

use super::create::parse_hash;
use super::{CLOSED, Deployment, INVALID_HASH, NOT_FOUND};
use crate::state::error::Outcome;
use crate::state::events::Event;
use crate::state::gas::Step;
use crate::state::keys;
use crate::state::keys::DeploymentKey;
use crate::state::msg::{Message, signer};
use crate::state::run::Exec;

pub(crate) struct UpdateDeployment {
    id: DeploymentId,
    hash: [u8; 32],
}

impl Message for UpdateDeployment {
    type Wire = wire::MsgUpdateDeployment;

    fn parse(wire: wire::MsgUpdateDeployment) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.owner))?;
        Ok(Self { id: keys::deployment(wire.id)?, hash: parse_hash(&wire.hash)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let deployment = exec.active_deployment(self.id)?;
        if deployment.hash == self.hash {
            return Err(INVALID_HASH.into());
        }
        exec.step(Step::DeploymentUpdate)?;
        exec.tables.put_deployment(Deployment { hash: self.hash, ..deployment });
        exec.emit(Event::deployment_updated(self.id, &self.hash));
        Ok(())
    }
}

/// Ends a deployment and everything in it.
pub(crate) struct CloseDeployment {
    id: DeploymentId,
}

impl Message for CloseDeployment {
    type Wire = wire::MsgCloseDeployment;

    fn parse(wire: wire::MsgCloseDeployment) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.owner))?;
        Ok(Self { id: keys::deployment(wire.id)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.active_deployment(self.id)?;
        // The rest follows from the end of the account.
        exec.account_close(EscrowAccountId::Deployment(self.id))
    }
}

impl Exec {
    fn active_deployment(&mut self, id: DeploymentId) -> Outcome<Deployment> {
        self.step(Step::Lookup)?;
        let deployment = self.tables.deployments.get(&DeploymentKey::from(id)).cloned();
        let deployment = deployment.ok_or(NOT_FOUND)?;
        match deployment.state {
            DeploymentState::Active => Ok(deployment),
            DeploymentState::Closed => Err(CLOSED.into()),
        }
    }

    pub(crate) fn on_account_closed(&mut self, id: DeploymentId, state: EscrowState) -> Outcome {
        let Some(deployment) = self.tables.deployments.get(&DeploymentKey::from(id)).cloned()
        else {
            return Ok(());
        };
        if deployment.state != DeploymentState::Active {
            return Ok(());
        }
        self.step(Step::DeploymentClose)?;
        self.tables.put_deployment(Deployment { state: DeploymentState::Closed, ..deployment });
        self.emit(Event::deployment_closed(id));
        let ended = match state {
            EscrowState::Overdrawn => GroupState::InsufficientFunds,
            EscrowState::Open | EscrowState::Closed => GroupState::Closed,
        };
        for group in self.tables.groups_of(id) {
            if group.state != GroupState::Closed {
                let id = group.id;
                self.set_group_state(group, ended)?;
                self.emit(Event::group_closed(id));
                self.on_group_closed(id, ended)?;
            }
        }
        Ok(())
    }
}
