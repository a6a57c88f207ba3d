//! Answers of the provider to its operator.

use prost_types::Timestamp;
use provider_daemon::ctl::wire::{
    Attempt, Bid, Count, Decided, DriftItem, Explained, Funds, Lease, Part, Response, Status,
};

use super::table::{Table, wrap};
use super::{Palette, WIDTH, printable};

const INDENT: &str = "  ";
/// Width of the names of fields.
const NAMES: usize = 10;

/// An answer, for people.
pub(crate) fn response(response: &Response, palette: &Palette) -> String {
    match response {
        Response::Status(status) => self::status(status, palette),
        Response::Why { subjects } => {
            let all: Vec<String> = subjects.iter().map(|item| explained(item, palette)).collect();
            all.join("\n")
        }
        Response::Drift { drift } => self::drift(drift, palette),
        Response::Bids { bids } => self::bids(bids, palette),
        Response::Leases { leases } => self::leases(leases, palette),
        Response::Inventory(inventory) => super::inventory::inventory(inventory, palette),
        Response::Isolation { isolated, attempts } => isolation(*isolated, attempts, palette),
        Response::Done { message } => paragraph(message),
        Response::Error { message, hint } => {
            paragraph(&format!("{message}; {}", hint.as_deref().unwrap_or_default()))
        }
    }
}

fn status(status: &Status, palette: &Palette) -> String {
    let Palette { good, warning, error, strong, .. } = palette;
    let (style, state) = if status.maintenance {
        (warning, "in maintenance: no bids, no closes")
    } else if status.ready {
        (good, "at work")
    } else {
        (warning, "waiting: sends nothing until the following is there")
    };
    let view = if status.cluster_fresh { "seen just now" } else { "NOT SEEN: nothing is judged" };
    let mut text = field("provider", &status.provider);
    text.push_str(&format!("{:<NAMES$}{style}{state}{style:#}\n", "state"));
    for missing in &status.missing {
        text.push_str(&field("", missing));
    }
    text.push_str(&field("chain", &format!("{}, height {}", status.chain_id, status.height)));
    text.push_str(&field("cluster", &format!("{}, {view}", status.cluster)));
    if let Some(uid) = &status.cluster_uid {
        text.push_str(&field("", &format!("uid {uid}")));
    }
    if let Some(why) = &status.unknown_cluster {
        text.push_str(&format!("{:<NAMES$}{error}UNKNOWN{error:#}: {why}\n", ""));
        if let Some(expected) = &status.expected_cluster_uid {
            text.push_str(&field("", &format!("expected uid {expected}")));
        }
        let stopped = "nothing is closed, bid, deployed, withdrawn or torn down";
        text.push_str(&field("", stopped));
        text.push_str(&field("", "if it is the right cluster: `ctl cluster accept`"));
    }
    if status.rival {
        text.push_str(&format!(
            "{:<NAMES$}{error}another provider with the same key acts{error:#}: no closes for a day\n",
            "rival"
        ));
    }
    if let Some(hold) = &status.isolation_hold {
        let reason = printable(&hold.reason);
        text.push_str(&format!("{:<NAMES$}{error}no new bids{error:#}: {reason}\n", "isolation"));
        text.push_str(&field("", &hold.detail));
        text.push_str(&field("", "leases go on; see `ctl probe isolation`"));
    }
    let wallet = match (&status.cannot_pay, &status.low_balance) {
        (None, None) => "can pay for bids".to_owned(),
        (None, Some(why)) => format!("low: {why}"),
        (Some(why), _) => format!("cannot pay for bids: {why}"),
    };
    text.push_str(&field("wallet", &wallet));
    if status.breaker_open {
        text.push_str(&format!(
            "{:<NAMES$}{error}open{error:#}: many leases look bad at once, so none is closed\n",
            "breaker"
        ));
        text.push_str(&field("", "see `ctl leases`; `ctl breaker-reset` lets them be closed"));
    }
    let uptime = format!("{}, {}", span(status.uptime_seconds), status.version);
    text.push_str(&field("running", &uptime));
    text.push_str(&field("orders", &counts(&status.orders)));
    text.push_str(&field("leases", &counts(&status.leases)));
    if !status.parts.is_empty() {
        text.push_str(&format!("\n{strong}Parts{strong:#}\n{}", parts(&status.parts, palette)));
    }
    text
}

fn isolation(isolated: bool, attempts: &[Attempt], palette: &Palette) -> String {
    let mut table = Table::new(&["FROM NODE", "TARGET", "ADDRESS", "RESULT"]);
    for attempt in attempts {
        let result = if attempt.reached { "REACHED" } else { "not reached" };
        table.push(row([&attempt.from_node, &attempt.target, &attempt.address, result]));
    }
    let (good, error) = (palette.good, palette.error);
    let summary = if isolated {
        format!("{good}Tenants are isolated{good:#}: no target was reached.\n")
    } else {
        let found = attempts.iter().filter(|attempt| attempt.reached).count();
        format!("{error}Tenants are NOT isolated{error:#}: {found} targets were reached.\n")
    };
    format!("{}\n{summary}", table.render("", WIDTH, palette))
}

fn parts(parts: &[Part], palette: &Palette) -> String {
    let mut table = Table::new(&["PART", "STATE", "RESTARTS", "DETAIL"]);
    for part in parts {
        table.push(row([&part.name, &part.state, &part.restarts.to_string(), &part.detail]));
    }
    table.render(INDENT, WIDTH, palette)
}

fn explained(explained: &Explained, palette: &Palette) -> String {
    let strong = palette.strong;
    let mut table = Table::new(&["HEIGHT", "WHEN", "DECISION"]);
    for Decided { height, time, decision } in &explained.decisions {
        table.push(row([&height.to_string(), &moment(*time), decision]));
    }
    let subject = printable(&explained.subject);
    format!("{strong}{subject}{strong:#}\n{}", table.render(INDENT, WIDTH, palette))
}

fn drift(drift: &[DriftItem], palette: &Palette) -> String {
    if drift.is_empty() {
        return "Chain, cluster and provider agree.\n".to_owned();
    }
    let mut table = Table::new(&["KIND", "WHAT"]);
    for item in drift {
        table.push(row([&item.code.replace('_', " "), &item.text]));
    }
    table.render("", WIDTH, palette)
}

fn bids(bids: &[Bid], palette: &Palette) -> String {
    by_tenant(
        bids,
        |bid| &bid.order,
        &["DSEQ", "G/O", "STAGE", "PRICE", "SINCE"],
        palette,
        |bid| {
            let since = bid.since_height.map(|height| height.to_string()).unwrap_or_default();
            vec![bid.stage.clone(), short(bid.price.as_deref().unwrap_or_default()), since]
        },
    )
}

fn leases(leases: &[Lease], palette: &Palette) -> String {
    let header = ["DSEQ", "G/O", "STAGE", "PAYS", "PRICE", "FUNDED FOR"];
    by_tenant(
        leases,
        |lease| &lease.id,
        &header,
        palette,
        |lease| {
            let pays = if lease.pays { "yes" } else { "no" };
            let funded = lease.funds.as_ref().map(funded).unwrap_or_default();
            vec![lease.stage.clone(), pays.to_owned(), short(&lease.price), funded]
        },
    )
}

/// `3d 4h, 42000 blocks`, or that nothing is left.
fn funded(funds: &Funds) -> String {
    match (funds.dry, funds.dry_at, funds.blocks_left) {
        (true, Some(since), _) => format!("DRY since {since}"),
        (_, _, Some(blocks)) => {
            let time = span(funds.seconds_left.unwrap_or_default());
            format!("{time}, {blocks} blocks")
        }
        _ => "ever".to_owned(),
    }
}

/// A table for each tenant: addresses are too long for two of them in a line.
fn by_tenant<T>(
    items: &[T],
    id: impl Fn(&T) -> &str,
    header: &[&'static str],
    palette: &Palette,
    rest: impl Fn(&T) -> Vec<String>,
) -> String {
    let mut tenants: Vec<(&str, Table)> = Vec::new();
    for item in items {
        let mut parts = id(item).split('/');
        let mut part = || parts.next().unwrap_or_default();
        let (owner, dseq, gseq, oseq) = (part(), part(), part(), part());
        let mut cells = vec![dseq.to_owned(), format!("{gseq}/{oseq}")];
        cells.extend(rest(item));
        let cells = cells.iter().map(|cell| vec![printable(cell)]).collect();
        match tenants.iter_mut().find(|(tenant, _)| *tenant == owner) {
            Some((_, table)) => table.push(cells),
            None => {
                let mut table = Table::new(header);
                table.push(cells);
                tenants.push((owner, table));
            }
        }
    }
    if tenants.is_empty() {
        return "There are none.\n".to_owned();
    }
    let strong = palette.strong;
    let texts = tenants.iter().map(|(tenant, table)| {
        let tenant = printable(tenant);
        format!("{strong}tenant {tenant}{strong:#}\n{}", table.render(INDENT, WIDTH, palette))
    });
    texts.collect::<Vec<_>>().join("\n")
}

pub(super) fn row<const N: usize>(cells: [&str; N]) -> Vec<Vec<String>> {
    cells.map(|cell| vec![printable(cell)]).into()
}

/// A name, and its value in as many lines as it needs.
fn field(name: &str, value: &str) -> String {
    let lines = wrap(&printable(value), WIDTH - NAMES);
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let name = if index == 0 { name } else { "" };
        text.push_str(&format!("{name:<NAMES$}{line}\n"));
    }
    text
}

fn paragraph(text: &str) -> String {
    wrap(&printable(text), WIDTH).join("\n") + "\n"
}

/// `3 open, 1 declined`; stages without any are left out.
fn counts(counts: &[Count]) -> String {
    let some = counts.iter().filter(|count| count.count > 0);
    let texts: Vec<String> = some.map(|count| format!("{} {}", count.count, count.stage)).collect();
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

/// `2026-11-16 03:37:25`.
fn moment(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or_default();
    let text = Timestamp { seconds, nanos: 0 }.to_string();
    text.trim_end_matches('Z').replace('T', " ")
}

/// `3d 4h`, `4h 5m`, `5m`.
fn span(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes}m"),
        (0, hours) => format!("{hours}h {minutes}m"),
        (days, hours) => format!("{days}d {hours}h"),
    }
}

/// A price without the zeros that fill its places: `1.5uact`.
fn short(price: &str) -> String {
    match price.parse() {
        Ok(coin) => super::bids::price(&coin),
        Err(_) => price.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use provider_daemon::ctl::wire::IsolationHold;

    use super::*;

    const OWNER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
    const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    fn shown(response: &Response) -> String {
        let text = super::response(response, &Palette::PLAIN);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.ends_with('\n'), "{text}");
        text
    }

    fn lease(dseq: u64, stage: &str) -> Lease {
        Lease {
            id: format!("{OWNER}/{dseq}/1/1/{PROVIDER}"),
            price: "1.500000000000000000uact".to_owned(),
            stage: stage.to_owned(),
            pays: true,
            lacks_manifest: false,
            funds: None,
        }
    }

    #[test]
    fn leases_stand_under_their_tenant() {
        let funds = |dry, dry_at, blocks_left: Option<u64>| {
            let seconds_left = blocks_left.map(|blocks| blocks * 6);
            Some(Funds { dry, dry_at, blocks_left, seconds_left, read_at: 1 })
        };
        let leases = vec![
            Lease { funds: funds(false, Some(42_101), Some(42_000)), ..lease(101, "running") },
            lease(102, "awaiting manifest"),
            Lease { funds: funds(true, Some(90), Some(0)), ..lease(103, "running") },
            Lease { funds: funds(false, None, None), ..lease(104, "running") },
        ];
        assert_eq!(
            shown(&Response::Leases { leases }),
            format!(
                "tenant {OWNER}
  DSEQ  G/O  STAGE              PAYS  PRICE    FUNDED FOR
  101   1/1  running            yes   1.5uact  2d 22h, 42000 blocks
  102   1/1  awaiting manifest  yes   1.5uact
  103   1/1  running            yes   1.5uact  DRY since 90
  104   1/1  running            yes   1.5uact  ever
"
            )
        );
        assert_eq!(shown(&Response::Leases { leases: vec![] }), "There are none.\n");
    }

    #[test]
    fn decisions_are_told_with_their_time_and_fit() {
        let long = "no bid: the order pays at most 5uact per block, the floor is 10; owner is on \
                    the deny list";
        let decided = Decided { height: 120, time: 1_763_264_245, decision: long.to_owned() };
        let subjects =
            vec![Explained { subject: format!("{OWNER}/101/1/1"), decisions: vec![decided] }];
        let text = shown(&Response::Why { subjects });
        assert!(text.starts_with(&format!("{OWNER}/101/1/1\n  HEIGHT  WHEN")), "{text}");
        assert!(text.contains("120     2025-11-16 03:37:25  no bid: the order pays"), "{text}");
    }

    #[test]
    fn the_status_says_what_is_the_matter() {
        let count = |stage: &str, count| Count { stage: stage.to_owned(), count };
        let mut status = Status {
            provider: PROVIDER.to_owned(),
            chain_id: "local".to_owned(),
            cluster: "simulated".to_owned(),
            version: "v0.1.0".to_owned(),
            uptime_seconds: 3 * 86_400 + 4 * 3600,
            height: 120,
            ready: true,
            cluster_fresh: true,
            orders: vec![count("open", 2), count("declined", 0)],
            parts: vec![Part {
                name: "chain".to_owned(),
                state: "running".to_owned(),
                restarts: 1,
                detail: "a node is behind".repeat(9),
            }],
            ..Status::default()
        };
        let text = shown(&Response::Status(Box::new(status.clone())));
        for wanted in [
            "state     at work",
            "cluster   simulated, seen just now",
            "orders    2 open\n",
            "leases    none\n",
            "running   3d 4h, v0.1.0",
            "wallet    can pay for bids",
        ] {
            assert!(text.contains(wanted), "{text}");
        }
        assert!(!text.contains("breaker"));
        status.breaker_open = true;
        status.maintenance = true;
        status.cannot_pay = Some("5uakt are left, 500000uakt are needed for a deposit".to_owned());
        status.isolation_hold = Some(IsolationHold {
            reason: "unknown".to_owned(),
            detail: "isolation of tenants is unknown: no probe has ended yet".to_owned(),
        });
        let text = shown(&Response::Status(Box::new(status)));
        let isolation = "isolation no new bids: unknown";
        for wanted in ["in maintenance", "breaker   open", "cannot pay for bids: 5uakt", isolation]
        {
            assert!(text.contains(wanted), "{text}");
        }
    }

    #[test]
    fn drift_and_bids_fit() {
        assert!(shown(&Response::Drift { drift: vec![] }).contains("agree"));
        let drift = vec![DriftItem {
            code: "workload_unknown_to_chain".to_owned(),
            order: format!("{OWNER}/101/1/1"),
            text: format!("the cluster has something of lease {OWNER}/101/1/1/{PROVIDER}"),
        }];
        assert!(shown(&Response::Drift { drift }).contains("workload unknown to chain"));
        let bids = vec![Bid {
            order: format!("{OWNER}/101/1/1"),
            price: None,
            stage: "pricing".to_owned(),
            since_height: None,
        }];
        assert!(shown(&Response::Bids { bids }).contains("101   1/1  pricing"));
    }

    #[test]
    fn what_the_provider_says_cannot_steer_a_terminal() {
        let response = Response::Done { message: "a\u{1b}[31mb".to_owned() };
        assert!(!shown(&response).contains('\u{1b}'));
    }
}
