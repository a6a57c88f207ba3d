//! What containers wrote.

use provider_engine::cluster::command::Operation;
use provider_engine::cluster::port::{
    LogLines, LogPart, LogQuery, Logs, MAX_LOG_TEXT, ReadFailure, ServiceChoice,
};
use tokio::time::{Instant, timeout_at};

use super::super::case::{Case, WEB};
use super::super::harness::{Harness, Program};
use super::super::report::{Breach, Verdict, holds, same};
use super::status::until_service;

fn failed(why: ReadFailure) -> Breach {
    Breach(format!("logs: {why}"))
}

/// Without following, logs end; with a tail, they have no more lines than that for each replica.
pub async fn logs_have_a_tail_and_an_end<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    // A replica that has not started has written nothing, which is no failure.
    case.does(Operation::Deploy(case.runs(Program::Serves, 2))).await?;
    read(&case, LogQuery::default()).await?;
    case.deploys(&case.runs(Program::Serves, 2)).await?;
    let deadline = Instant::now() + case.patience();
    loop {
        let lines = whole_lines(read(&case, LogQuery::default()).await?);
        if lines.len() >= 6 {
            break;
        }
        holds(Instant::now() < deadline, || format!("only {} lines were written", lines.len()))?;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let services = ServiceChoice::Named(vec![WEB.to_owned()]);
    let tail = LogQuery { tail: Some(1), services, ..LogQuery::default() };
    let lines = whole_lines(read(&case, tail).await?);
    same("lines of a tail of 1 of two replicas", &lines.len(), &2)?;
    let none = LogQuery { tail: Some(0), ..LogQuery::default() };
    same("lines of no tail", &whole_lines(read(&case, none).await?).len(), &0)?;
    case.clears().await
}

/// Who follows a service sees its next container too, with a mark between, and the lease's end as
/// such.
pub async fn logs_are_followed_through_restarts<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.does(Operation::Deploy(case.runs(Program::Crashes, 1))).await?;
    let query = LogQuery { follow: true, ..LogQuery::default() };
    let mut lines = case.driver.logs(case.lease, query).await.map_err(failed)?;
    let deadline = Instant::now() + case.patience();
    let (mut before, mut breaks, mut after) = (0_u32, 0_u32, 0_u32);
    while after == 0 {
        match timeout_at(deadline, lines.next()).await {
            Ok(Ok(Some(LogPart::Text { .. }))) if breaks == 0 => before += 1,
            Ok(Ok(Some(LogPart::Text { .. }))) => after += 1,
            Ok(Ok(Some(LogPart::Break { .. }))) => breaks += 1,
            other => return Err(Breach(format!("followed logs broke off: {other:?}"))),
        }
    }
    holds(before > 0, || "the first container's lines are missing".to_owned())?;
    case.does(case.teardown()).await?;
    let deadline = Instant::now() + case.patience();
    loop {
        match timeout_at(deadline, lines.next()).await {
            Ok(Ok(Some(_))) => {}
            Ok(Err(ReadFailure::NotFound(_))) => break,
            other => return Err(Breach(format!("the end of the lease gave {other:?}"))),
        }
    }
    case.clears().await
}

/// A line of a mebibyte comes whole, in parts of bounded length.
pub async fn a_long_line_comes_whole<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.deploys(&case.runs(Program::WritesLongLine, 1)).await?;
    let deadline = Instant::now() + case.patience();
    loop {
        let parts = read(&case, LogQuery::default()).await?;
        let longest = parts.iter().map(|part| match part {
            LogPart::Text { text, .. } => text.len(),
            LogPart::Break { .. } => 0,
        });
        let longest = longest.max().unwrap_or_default();
        holds(longest <= MAX_LOG_TEXT, || format!("a part has {longest} bytes"))?;
        let lines = whole_lines(parts);
        // Other lines follow: what is long does not end the stream.
        let at = lines.iter().position(|line| line.len() >= 1 << 20);
        if at.is_some_and(|at| at + 1 < lines.len()) {
            return case.clears().await;
        }
        holds(Instant::now() < deadline, || "the long line is not there".to_owned())?;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

/// What the container before the last restart wrote can still be read.
pub async fn the_previous_container_can_be_read<H: Harness>(harness: &H) -> Verdict {
    let case = Case::new(harness)?;
    case.does(Operation::Deploy(case.runs(Program::Crashes, 1))).await?;
    until_service(&case, "a restart", |status| status.restarts > 0).await?;
    let query = LogQuery { previous: true, ..LogQuery::default() };
    let lines = whole_lines(read(&case, query).await?);
    holds(!lines.is_empty(), || "the container before wrote nothing".to_owned())?;
    case.clears().await
}

async fn read<H: Harness>(case: &Case<'_, H>, query: LogQuery) -> Result<Vec<LogPart>, Breach> {
    let mut lines = case.driver.logs(case.lease, query).await.map_err(failed)?;
    let deadline = Instant::now() + case.patience();
    let mut parts = Vec::new();
    loop {
        match timeout_at(deadline, lines.next()).await {
            Ok(Ok(Some(part))) => parts.push(part),
            Ok(Ok(None)) => return Ok(parts),
            Ok(Err(why)) => return Err(failed(why)),
            Err(_) => return Err(Breach("logs that are not followed have no end".to_owned())),
        }
    }
}

/// Lines put together again, replica by replica.
fn whole_lines(parts: Vec<LogPart>) -> Vec<String> {
    let mut begun = std::collections::BTreeMap::<String, String>::new();
    let mut lines = Vec::new();
    for part in parts {
        let LogPart::Text { replica, text, continues, .. } = part else { continue };
        let line = begun.entry(replica).or_default();
        line.push_str(&text);
        if !continues {
            lines.push(std::mem::take(line));
        }
    }
    lines
}
