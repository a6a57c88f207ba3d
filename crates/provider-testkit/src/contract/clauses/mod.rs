//! The clauses.

pub mod exec;
pub mod expose;
pub mod life;
pub mod logs;
pub mod observe;
pub mod safety;
pub mod status;

use super::harness::{Capabilities, Harness};
use super::report::Report;

/// Tries every clause that can be tried.
pub async fn run_all<H: Harness>(harness: &H) -> Report {
    let can = harness.capabilities();
    let mut report = Report::default();
    /// Tries each clause in turn, if the cluster is able to what it needs.
    macro_rules! clauses {
        ($($needs:expr => $module:ident::$clause:ident,)+) => {
            $(
                let name = stringify!($clause);
                let needs: fn(&Capabilities) -> bool = $needs;
                if needs(&can) {
                    match $module::$clause(harness).await {
                        Ok(()) => report.held.push(name),
                        Err(breach) => report.broken.push((name, breach)),
                    }
                } else {
                    report.left_out.push(name);
                }
            )+
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
        |_| true => observe::a_view_begins_whole_and_then_tells_every_change,
        |_| true => observe::maintenance_is_held,
        |can| can.runs => safety::a_restart_of_the_driver_touches_nothing,
        |can| can.runs => safety::an_unavailable_api_is_said_and_destroys_nothing,
        |can| can.runs && can.node_loss => safety::a_lost_node_is_not_a_lost_lease,
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
    report
}
