//! The clauses.

pub mod exec;
pub mod expose;
pub mod life;
pub mod logs;
pub mod observe;
pub mod safety;
pub mod status;

use std::future::Future;
use std::pin::Pin;

use futures_util::{StreamExt, stream};

use super::harness::{Capabilities, Harness};
use super::report::{Report, Verdict};

/// A clause that waits to be tried.
struct Clause<'h> {
    name: &'static str,
    needs: fn(&Capabilities) -> bool,
    /// Whether it disturbs what others do.
    is_alone: bool,
    verdict: Pin<Box<dyn Future<Output = Verdict> + 'h>>,
}

/// Tries every clause that can be tried, one after the other.
pub async fn run_all<H: Harness>(harness: &H) -> Report {
    run_together(harness, 1).await
}

/// Tries every clause that can be tried, so many at the same time: for clusters that take their time
/// to clear up. Those that disturb others come last, one by one.
pub async fn run_together<H: Harness>(harness: &H, at_once: usize) -> Report {
    let can = harness.capabilities();
    let (tried, left_out): (Vec<_>, Vec<_>) =
        clauses(harness).into_iter().partition(|clause| (clause.needs)(&can));
    let mut report = Report {
        left_out: left_out.into_iter().map(|clause| clause.name).collect(),
        ..Report::default()
    };
    let (alone, together): (Vec<_>, Vec<_>) = tried.into_iter().partition(|it| it.is_alone);
    for (clauses, at_once) in [(together, at_once), (alone, 1)] {
        let verdicts = clauses.into_iter().map(async |it| (it.name, it.verdict.await));
        let mut verdicts = stream::iter(verdicts).buffered(at_once);
        while let Some((name, verdict)) = verdicts.next().await {
            match verdict {
                Ok(()) => report.held.push(name),
                Err(breach) => report.broken.push((name, breach)),
            }
        }
    }
    report
}

/// Every clause, with what it needs.
fn clauses<H: Harness>(harness: &H) -> Vec<Clause<'_>> {
    macro_rules! clauses {
        ($($needs:expr => $module:ident::$clause:ident $($alone:ident)?,)+) => {
            vec![$(Clause {
                name: stringify!($clause),
                needs: $needs,
                is_alone: [$(stringify!($alone))?].contains(&"alone"),
                verdict: Box::pin($module::$clause(harness)),
            },)+]
        };
    }
    clauses! {
        |_| true => life::a_manifest_is_durable_before_it_is_accepted,
        |can| can.runs => life::what_is_deployed_becomes_ready,
        |can| can.runs => life::to_deploy_twice_is_to_deploy_once,
        |can| can.runs => life::an_update_changes_what_runs_one_replica_at_a_time,
        |can| can.runs => life::a_broken_update_can_be_repaired,
        |_| true => life::teardown_leaves_nothing_and_can_be_repeated,
        |_| true => life::teardown_of_an_unknown_lease_is_done,
        |can| can.runs => status::a_missing_image_fails_with_a_reason,
        |can| can.runs => status::a_crash_shows_its_exit_code,
        |_| true => status::what_fits_nowhere_says_so,
        |_| true => status::what_is_not_there_is_not_found,
        |can| can.runs => status::events_are_told,
        |_| true => observe::a_view_begins_whole_and_then_tells_every_change alone,
        |_| true => observe::maintenance_is_held alone,
        |can| can.runs => safety::a_restart_of_the_driver_touches_nothing,
        |can| can.runs => safety::an_unavailable_api_is_said_and_destroys_nothing alone,
        |can| can.runs && can.node_loss => safety::a_lost_node_is_not_a_lost_lease alone,
        |can| can.runs && can.hostnames => expose::hostnames_and_ports_lead_to_services,
        |can| can.runs && can.hostnames => expose::a_withheld_hostname_stays_where_it_is,
        |can| can.runs && can.ips => expose::leased_addresses_are_reported,
        |can| can.runs && can.logs => logs::logs_have_a_tail_and_an_end,
        |can| can.runs && can.logs => logs::logs_are_followed_through_restarts,
        |can| can.runs && can.logs => logs::a_long_line_comes_whole,
        |can| can.runs && can.logs => logs::the_previous_container_can_be_read,
        |can| can.runs && can.exec => exec::commands_give_output_errors_and_exit_codes,
        |can| can.runs && can.exec => exec::commands_read_what_is_sent_to_them,
        |can| can.runs && can.exec => exec::what_cannot_be_run_says_why,
    }
}
