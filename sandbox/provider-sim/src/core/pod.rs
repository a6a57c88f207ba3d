//! A pod, and the states it goes through.
//!
//! ```text
//! Waiting ─ place ─► Starting ─ image, volume ─► Ready ─ ends ─► Failing(Exit) ─ back-off ─► Ready
//!    ▲                  └─ no such image ─► Failing(Image)
//!    ├── evicted ── Failing(NodeLost) ◄─ node lost ─ any      node back ─► Starting
//!    └── replaced, and no room where it was
//! any ─ told to end ─► Ending ─ grace ─► gone
//! ```

use std::time::Duration;

use provider_engine::cluster::view::{CardChoice, Condition, Name, Replica};
use serde::{Deserialize, Serialize};

use super::place::Need;

/// Names a pod within its lease, through replacements.
pub(super) type PodKey = u32;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pod {
    pub(super) name: String,
    pub(super) template: Template,
    /// Which replica of the service, from 0.
    pub(super) ordinal: u32,
    pub(super) node: Option<Name>,
    pub(super) state: PodState,
    /// When the state changes by itself.
    pub(super) until: Option<Duration>,
    pub(super) restarts: u32,
    /// Its container, once one was started.
    pub(super) run: Option<Run>,
    pub(super) previous: Option<Run>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Template {
    pub(super) service: String,
    pub(super) image: String,
    /// Differs when anything in the manifest's service differs but its count.
    pub(super) revision: u64,
    pub(super) need: Need,
    #[serde(with = "crate::wire::card::option")]
    pub(super) card: Option<CardChoice>,
    pub(super) env: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PodState {
    Waiting(String),
    Starting,
    Ready,
    Failing(Failure),
    Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Failure {
    Image,
    Exit,
    NodeLost,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    /// Counted from 0 through all restarts of the pod.
    pub(super) number: u32,
    pub(super) started: Duration,
    pub(super) ended: Option<Ended>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) at: Duration,
    pub(super) cause: Cause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Cause {
    Crash,
    OutOfMemory,
    Killed,
}

impl Cause {
    pub(super) const fn code(self) -> i32 {
        match self {
            Self::Crash => 1,
            Self::OutOfMemory | Self::Killed => 137,
        }
    }

    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Crash => "the program exited with code 1",
            Self::OutOfMemory => "out of memory: the container used more than its limit",
            Self::Killed => "the container was killed (signal 9)",
        }
    }
}

impl Pod {
    /// Why it is not ready, in words.
    pub(super) fn why(&self) -> Option<String> {
        match &self.state {
            PodState::Ready => None,
            PodState::Waiting(why) => Some(why.clone()),
            PodState::Starting => Some("image and volumes are being prepared".to_owned()),
            PodState::Ending => Some("it was told to end".to_owned()),
            PodState::Failing(Failure::Image) => {
                Some(format!("image {:?} cannot be pulled: it does not exist", self.template.image))
            }
            PodState::Failing(Failure::NodeLost) => {
                let node = self.node.as_deref().unwrap_or("?");
                Some(format!("node {node} does not answer"))
            }
            PodState::Failing(Failure::Exit) => {
                let cause = self.last_end().map_or("the container ended", |end| end.cause.words());
                Some(format!("{cause}; started again {} times", self.restarts))
            }
        }
    }

    /// How its container ended last, if one did.
    pub(super) fn last_end(&self) -> Option<Ended> {
        let of = |run: &Option<Run>| run.as_ref().and_then(|run| run.ended);
        of(&self.run).or_else(|| of(&self.previous))
    }

    pub(super) fn replica(&self) -> Replica {
        let condition = match &self.state {
            PodState::Ready => Condition::Ready,
            PodState::Starting => Condition::Starting,
            PodState::Ending => Condition::Ending,
            PodState::Waiting(why) => Condition::Unschedulable(why.clone()),
            PodState::Failing(_) => Condition::Failing(self.why().unwrap_or_default()),
        };
        Replica {
            service: self.template.service.clone(),
            node: self.node.clone(),
            asks: self.template.need.asks,
            card: self.template.card.clone(),
            condition,
            restarts: self.restarts,
        }
    }
}
