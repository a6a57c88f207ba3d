//! What containers wrote.

use std::vec::IntoIter;

use http::request::Parts;
use provider_api::json::to_line;
use provider_api::stream::LogFrame;
use provider_engine::cluster::port::{Cluster, LogLines, LogPart, LogQuery, ReadFailure};

use super::handshake::{Asked, Reading, choice};
use super::lines::Lines;
use super::pump::Source;
use crate::Gateway;
use crate::auth::{LeaseRef, Request, Services};
use crate::port::Provider;
use crate::rest::{Answer, Failure};

impl<P: Provider, C: Cluster> Gateway<P, C> {
    pub(crate) async fn logs(
        &self,
        lease: Result<LeaseRef, Failure>,
        parts: &mut Parts,
    ) -> Result<Answer, Failure> {
        let asked: Asked = |lease, services| Request::Logs(lease, services);
        let open = async |cluster: C, reading| {
            let Reading { lease, services, params } = reading;
            let query = LogQuery {
                services: choice(params.services),
                tail: params.tail,
                follow: params.follow,
                previous: false,
            };
            let parts = cluster.logs(lease, query).await?;
            let lines = Lines::new(params.follow);
            Ok(LogSource { parts, lines, services, frames: Vec::new().into_iter(), is_over: false })
        };
        self.read(lease, asked, parts, open).await
    }
}

struct LogSource<L> {
    parts: L,
    lines: Lines,
    services: Services,
    /// What was read and is not sent yet.
    frames: IntoIter<LogFrame>,
    is_over: bool,
}

impl<L: LogLines> LogSource<L> {
    fn may_see(&self, part: &LogPart) -> bool {
        let (LogPart::Text { service, .. } | LogPart::Break { service, .. }) = part;
        self.services.include(service)
    }
}

impl<L: LogLines> Source for LogSource<L> {
    async fn next(&mut self) -> Result<Option<String>, ReadFailure> {
        loop {
            // One at a time: as JSON, a line may be six times as long.
            if let Some(line) = self.frames.find_map(|frame| to_line(&frame).ok()) {
                return Ok(Some(line));
            }
            if self.is_over {
                return Ok(None);
            }
            let frames = match self.parts.next().await? {
                Some(part) if self.may_see(&part) => self.lines.push(part),
                Some(_) => Vec::new(),
                None => {
                    self.is_over = true;
                    self.lines.finish()
                }
            };
            self.frames = frames.into_iter();
        }
    }
}
