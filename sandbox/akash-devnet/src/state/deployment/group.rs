//! Closing, pausing and starting groups.

use akash_proto::akash::deployment::v1::GroupId as GroupIdWire;
use akash_proto::akash::deployment::v1beta4 as wire;
use akash_types::{Address, GroupId, GroupState};

use super::{GROUP_CLOSED, GROUP_NOT_FOUND, GROUP_OPEN, GROUP_PAUSED, Group, NOT_FOUND};
use crate::state::error::{Outcome, ignore};
use crate::state::events::Event;
use crate::state::gas::Step;
use crate::state::keys;
use crate::state::keys::{DeploymentKey, GroupKey};
use crate::state::msg::{Message, signer};
use crate::state::run::Exec;

/// Ends a group with its order and lease.
pub(crate) struct CloseGroup {
    id: GroupId,
}

/// Ends the order and lease of a group until it is started again.
pub(crate) struct PauseGroup {
    id: GroupId,
}

pub(crate) struct StartGroup {
    id: GroupId,
}

impl Message for CloseGroup {
    type Wire = wire::MsgCloseGroup;

    fn parse(wire: wire::MsgCloseGroup) -> Outcome<Self> {
        Ok(Self { id: group_of_signer(wire.id)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.end_group(self.id, GroupState::Closed, Event::group_closed)
    }
}

impl Message for PauseGroup {
    type Wire = wire::MsgPauseGroup;

    fn parse(wire: wire::MsgPauseGroup) -> Outcome<Self> {
        Ok(Self { id: group_of_signer(wire.id)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.end_group(self.id, GroupState::Paused, Event::group_paused)
    }
}

impl Message for StartGroup {
    type Wire = wire::MsgStartGroup;

    fn parse(wire: wire::MsgStartGroup) -> Outcome<Self> {
        Ok(Self { id: group_of_signer(wire.id)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let group = exec.group(self.id)?;
        may_become(group.state, GroupState::Open)?;
        exec.set_group_state(group.clone(), GroupState::Open)?;
        exec.emit(Event::group_started(self.id));
        let key = DeploymentKey::from(self.id.deployment_id());
        let deployment = exec.tables.deployments.get(&key).ok_or(NOT_FOUND)?;
        let reclamation = deployment.reclamation;
        exec.create_order(&group, reclamation)
    }
}

/// The group that a message is about; its owner signs.
fn group_of_signer(id: Option<GroupIdWire>) -> Outcome<GroupId> {
    signer(id.as_ref().map_or("", |id| &id.owner))?;
    keys::group(id)
}

/// Nothing becomes what it is, and what is closed stays so.
fn may_become(is: GroupState, wanted: GroupState) -> Outcome {
    match is {
        GroupState::Closed => Err(GROUP_CLOSED.into()),
        GroupState::Paused if wanted == is => Err(GROUP_PAUSED.into()),
        GroupState::Open if wanted == is => Err(GROUP_OPEN.into()),
        GroupState::Paused | GroupState::Open | GroupState::InsufficientFunds => Ok(()),
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

    /// Closes or pauses a group for its owner, with its order and lease.
    fn end_group(
        &mut self,
        id: GroupId,
        state: GroupState,
        event: fn(GroupId) -> Event,
    ) -> Outcome {
        let group = self.group(id)?;
        may_become(group.state, state)?;
        self.set_group_state(group, state)?;
        self.emit(event(id));
        let closed = self.on_group_closed(id, state);
        ignore(closed).map(drop)
    }

    /// A provider gave a lease up: the tenant decides whether to order again.
    pub(crate) fn pause_group_of_closed_bid(&mut self, id: GroupId) -> Outcome {
        let group = self.group(id)?;
        self.set_group_state(group, GroupState::Paused)?;
        self.emit(Event::group_paused(id));
        Ok(())
    }
}
