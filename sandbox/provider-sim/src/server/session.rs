//! One connection of a remote driver: one request, and its answers.

use std::io;

use akash_types::LeaseId;
use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::{
    Changes, EventQuery, EventStream, Exec, ExecOutput, Execute, Input, Inspect, LogLines, Logs,
    Observe, Output, ReadFailure,
};
use serde::Serialize;
use tokio::net::TcpStream;

use crate::driver::{SimDriver, SimInputEnd, SimOutputEnd};
use crate::link::{LinesIn, LinesOut, both};
use crate::wire::{
    EventWrap, ExecFailureWrap, FailureWrap, HeldWire, InputWrap, LogWrap, OutputWrap,
    ReadFailureWrap, Request, StatusWrap, lines,
};

/// Serves a connection. Whatever goes wrong with it ends it and nothing else.
pub(super) async fn serve(stream: TcpStream, driver: SimDriver) {
    let (mut input, mut output) = both(stream);
    while let Ok(Some(request)) = input.next::<Request>().await {
        let left = answer(request, &driver, &mut input, &mut output).await;
        if !matches!(left, Ok(Left::Open)) {
            return;
        }
    }
}

/// What becomes of a connection once a request is answered.
enum Left {
    /// It takes another request.
    Open,
    Closed,
}

async fn answer(
    request: Request,
    driver: &SimDriver,
    input: &mut LinesIn,
    output: &mut LinesOut,
) -> io::Result<Left> {
    match request {
        Request::Execute(operation) => {
            let result = match Operation::try_from(*operation) {
                Ok(operation) => driver.execute(operation).await,
                Err(why) => Err(CommandFailure::Refused(why.to_string())),
            };
            output.send(&result.map_err(FailureWrap)).await?;
        }
        Request::Observe => return until_gone(input, watch(driver, output)).await,
        Request::Status(lease) => {
            let status = driver.status(read(lease)?).await;
            let status = status
                .map(|status| status.services.into_iter().map(StatusWrap).collect::<Vec<_>>());
            reply(output, status).await?;
        }
        Request::Service(lease, service) => {
            let status = driver.service(read(lease)?, &service).await;
            reply(output, status.map(StatusWrap)).await?;
        }
        Request::Manifest(lease) => {
            let held = driver.manifest(read(lease)?).await;
            reply(output, held.map(|held| HeldWire::from(&held))).await?;
        }
        Request::Events { lease, services, follow } => {
            let query = EventQuery { services: services.0, follow };
            let events = driver.events(read(lease)?, query).await;
            return until_gone(input, send_events(events, output)).await;
        }
        Request::Logs(lease, query) => {
            let lines = driver.logs(read(lease)?, query.0).await;
            return until_gone(input, send_logs(lines, output)).await;
        }
        Request::Exec(lease, request) => match driver.exec(read(lease)?, request.0).await {
            Ok((to, from)) => {
                output.send(&Ok::<(), ExecFailureWrap>(())).await?;
                exec(input, output, to, from).await?;
                return Ok(Left::Closed);
            }
            Err(why) => output.send(&Err::<(), _>(ExecFailureWrap(why))).await?,
        },
        Request::Disturb(disturbance) => {
            driver.disturb(disturbance).await.map_err(io::Error::other)?;
            output.send(&()).await?;
        }
    }
    Ok(Left::Open)
}

fn read(lease: crate::wire::LeaseIdWire) -> io::Result<LeaseId> {
    lease.try_into().map_err(io::Error::other)
}

async fn reply<T: Serialize + Sync>(
    output: &mut LinesOut,
    result: Result<T, ReadFailure>,
) -> io::Result<()> {
    output.send(&result.map_err(ReadFailureWrap)).await
}

async fn watch(driver: &SimDriver, output: &mut LinesOut) -> io::Result<()> {
    let mut changes = driver.observe();
    loop {
        for line in lines(&changes.next().await) {
            output.send(&line).await?;
        }
    }
}

/// Does something for a client until it goes away.
async fn until_gone(
    input: &mut LinesIn,
    work: impl Future<Output = io::Result<()>>,
) -> io::Result<Left> {
    tokio::select! {
        done = work => done.map(|()| Left::Open),
        // Nothing more is expected from it: the end, or anything else, ends it.
        _ = input.next::<serde_json::Value>() => Ok(Left::Closed),
    }
}

/// The first result says whether there is a stream at all; then come its parts.
async fn send_events(
    events: Result<impl EventStream, ReadFailure>,
    output: &mut LinesOut,
) -> io::Result<()> {
    let mut events = match events {
        Ok(events) => events,
        Err(why) => return reply::<Option<EventWrap>>(output, Err(why)).await,
    };
    output.send(&Ok::<(), ReadFailureWrap>(())).await?;
    loop {
        let next = events.next().await.map(|event| event.map(EventWrap));
        let goes_on = matches!(next, Ok(Some(_)));
        reply(output, next).await?;
        if !goes_on {
            return Ok(());
        }
    }
}

async fn send_logs(
    lines: Result<impl LogLines, ReadFailure>,
    output: &mut LinesOut,
) -> io::Result<()> {
    let mut lines = match lines {
        Ok(lines) => lines,
        Err(why) => return reply::<Option<LogWrap>>(output, Err(why)).await,
    };
    output.send(&Ok::<(), ReadFailureWrap>(())).await?;
    loop {
        let next = lines.next().await.map(|part| part.map(LogWrap));
        let goes_on = matches!(next, Ok(Some(_)));
        reply(output, next).await?;
        if !goes_on {
            return Ok(());
        }
    }
}

/// Carries input and output of a command until it ends or the client goes away. Both side by side:
/// while the client does not read, what it sends is still taken, as far as the command does.
async fn exec(
    input: &mut LinesIn,
    output: &mut LinesOut,
    mut to: SimInputEnd,
    mut from: SimOutputEnd,
) -> io::Result<()> {
    let reading = async {
        while let Some(InputWrap(part)) = input.next::<InputWrap>().await? {
            // A command that has ended says so by itself.
            to.send(part).await;
        }
        Ok(())
    };
    let writing = async {
        loop {
            let part = from.next().await;
            let is_last = matches!(part, ExecOutput::Exit(_) | ExecOutput::Broken(_));
            output.send(&OutputWrap(part)).await?;
            if is_last {
                return Ok(());
            }
        }
    };
    tokio::select! {
        done = writing => done,
        done = reading => done,
    }
}
