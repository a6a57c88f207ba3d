//! Closing, pausing and starting groups.

use akash_proto::akash::deployment::v1beta4 as wire;
use akash_types::{Address, GroupId, GroupState};

use super::{GROUP_CLOSED, GROUP_NOT_FOUND, GROUP_OPEN, GROUP_PAUSED, Group, NOT_FOUND};
use crate::state::error::{Outcome, ignore};
use crate::state::events::Event;
use crate::state::exec::Exec;
use crate::state::gas::Step;
use crate::state::ids;
use crate::state::keys::{DeploymentKey, GroupKey};
use crate::state::msg::{Message, signer};

/// Ends a group with its order and lease.
pub(crate) struct CloseGroup {
    id: GroupId,
}

/// Ends the order and lease of a group until it is started again.
pub(crate) struct PauseGroup {
    id: GroupId,
}

/// Orders again for a group.
pub(crate) struct StartGroup {
    id: GroupId,
}

impl Message for CloseGroup {
    type Wire = wire::MsgCloseGroup;

    fn parse(wire: wire::MsgCloseGroup) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.owner))?;
        Ok(Self { id: ids::group(wire.id)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let group = exec.group(self.id)?;
        if group.state == GroupState::Closed {
            return Err(GROUP_CLOSED.into());
        }
        exec.set_group_state(group, GroupState::Closed)?;
        exec.emit(Event::group_closed(self.id));
        let closed = exec.on_group_closed(self.id, GroupState::Closed);
        ignore(closed).map(drop)
    }
}

impl Message for PauseGroup {
    type Wire = wire::MsgPauseGroup;

    fn parse(wire: wire::MsgPauseGroup) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.owner))?;
        Ok(Self { id: ids::group(wire.id)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let group = exec.group(self.id)?;
        match group.state {
            GroupState::Closed => return Err(GROUP_CLOSED.into()),
            GroupState::Paused => return Err(GROUP_PAUSED.into()),
            GroupState::Open | GroupState::InsufficientFunds => {}
        }
        exec.pause_group(group)?;
        let closed = exec.on_group_closed(self.id, GroupState::Paused);
        ignore(closed).map(drop)
    }
}

impl Message for StartGroup {
    type Wire = wire::MsgStartGroup;

    fn parse(wire: wire::MsgStartGroup) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.owner))?;
        Ok(Self { id: ids::group(wire.id)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let group = exec.group(self.id)?;
        match group.state {
            GroupState::Closed => return Err(GROUP_CLOSED.into()),
            GroupState::Open => return Err(GROUP_OPEN.into()),
            GroupState::Paused | GroupState::InsufficientFunds => {}
        }
        exec.set_group_state(group.clone(), GroupState::Open)?;
        exec.emit(Event::group_started(self.id));
        let key = DeploymentKey::from(self.id.deployment_id());
        let deployment = exec.tables.deployments.get(&key).ok_or(NOT_FOUND)?;
        let reclamation = deployment.reclamation;
        exec.create_order(&group, reclamation)
    }
}

impl Exec {
    fn group(&mut self, id: GroupId) -> Outcome<Group> {
        self.step(Step::Lookup)?;
        Ok(self.tables.groups.get(&GroupKey::from(id)).cloned().ok_or(GROUP_NOT_FOUND)?)
    }

    pub(crate) fn set_group_state(&mut self, group: Group, state: GroupState) -> Outcome {
        self.step(Step::GroupUpdate)?;
        self.tables.groups.insert(GroupKey::from(group.id), Group { state, ..group });
        Ok(())
    }

    fn pause_group(&mut self, group: Group) -> Outcome {
        let id = group.id;
        self.set_group_state(group, GroupState::Paused)?;
        self.emit(Event::group_paused(id));
        Ok(())
    }

    /// A provider gave a lease up: the tenant decides whether to order again.
    pub(crate) fn pause_group_of_closed_bid(&mut self, id: GroupId) -> Outcome {
        let group = self.group(id)?;
        self.pause_group(group)
    }
}
