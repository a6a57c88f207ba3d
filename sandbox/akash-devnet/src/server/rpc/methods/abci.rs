//! Methods that ask the application.

use crate::node::App;
use crate::server::context::{APP_VERSION, Context};
use crate::server::services::{self, Refusal};

use super::super::args::Args;
use super::super::json::{AbciInfo, AbciQuery};
use super::{Outcome, answer};

pub(super) fn abci_info<A: App>(context: &Context<A>) -> Outcome {
    answer(&AbciInfo::of(context.view().history.latest_block().map(AsRef::as_ref)))
}

pub(super) async fn abci_query<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let (path, data) = (args.text(0), args.bytes(1));
    let height = args.int(2).unwrap_or_default();
    if let Some(text) = context.faults.failure(path) {
        return Err(text);
    }
    match path {
        "" => return refused(Refusal::unknown_request("no query path provided")),
        "/app/version" | "app/version" => {
            let latest = context.view().history.latest();
            return answer(&AbciQuery::answer(APP_VERSION.into(), latest));
        }
        _ => {}
    }
    match services::query(context, path, data, height).await {
        Ok(found) => answer(&AbciQuery::answer(found.value, found.height)),
        Err(refusal) => refused(refusal),
    }
}

fn refused(refusal: Refusal) -> Outcome {
    answer(&AbciQuery::refusal(refusal.abci_code, refusal.abci_log, refusal.height))
}
