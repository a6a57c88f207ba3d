//! What to try, to be copied.

use std::path::Path;

use akash_types::{DecCoin, EscrowPayment, EscrowState};

use crate::cli::NAME;
use crate::commands::devnet::quoted;
use crate::output::Palette;

/// Something to try in another terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Try {
    pub(super) what: &'static str,
    /// The line, as it is printed and run.
    pub(super) line: String,
}

/// What there is to say.
#[derive(Clone, Debug)]
pub(super) struct Guide<'a> {
    pub(super) home: &'a Path,
    pub(super) dseq: u64,
    pub(super) service: &'a str,
    /// Where the service answers, with a port: the simulated cluster has a single one.
    pub(super) url: &'a str,
    /// Whether there is a curl to fetch it with.
    pub(super) has_curl: bool,
}

impl Guide<'_> {
    /// The line that has to be run once in a terminal.
    pub(super) fn prepare(&self) -> String {
        format!(". {}", quoted(&self.home.join("env").display().to_string()))
    }

    /// What to try, in this order: the last ends the deployment.
    pub(super) fn tries(&self) -> Vec<Try> {
        let Self { dseq, service, url, .. } = self;
        let sdl = "\"$CHANGED_SDL\"";
        let ours = |what, words: String| Try { what, line: format!("{NAME} {words}") };
        let page = Try { what: "fetch the page", line: format!("curl -s {url}") };
        let mut tries = vec![
            ours("how the lease is", format!("lease-status --dseq {dseq}")),
            ours("its logs", format!("lease-logs --dseq {dseq} --tail 5")),
            ours("its events", format!("lease-events --dseq {dseq}")),
            ours("a command in it", format!("lease-shell {service} hostname --dseq {dseq}")),
            ours("the provider's view", "ctl status".to_owned()),
            ours("why it bid", format!("ctl why {dseq}")),
            ours("announce a change", format!("tx deployment update {sdl} --dseq {dseq} -y")),
            ours("and send it", format!("send-manifest {sdl} --dseq {dseq}")),
            ours("close it", format!("deploy --close {dseq}")),
        ];
        if self.has_curl {
            tries.insert(0, page);
        }
        tries
    }

    pub(super) fn render(&self, palette: &Palette) -> String {
        let (strong, frame) = (palette.strong, palette.frame);
        let mut text = format!(
            "\n{strong}To try in another terminal{strong:#} {frame}# first, once{frame:#}\n  {}\n",
            self.prepare()
        );
        for Try { what, line } in self.tries() {
            text.push_str(&format!("\n  {frame}# {what}{frame:#}\n  {line}\n"));
        }
        text
    }
}

/// What `env` says: where everything is, and who is asking.
pub(super) fn environment(home: &Path, program: &Path, node: &str, chain_id: &str) -> String {
    let folder = program.parent().unwrap_or(Path::new("."));
    let path = quoted(&folder.display().to_string());
    format!(
        "# For a terminal that is to talk to the quickstart: . this file\n\
         for name in $(env | sed -n 's/^\\(A[KP][A-Z0-9_]*\\)=.*/\\1/p'); do\n  \
         case $name in AP_* | AKASH_*) unset \"$name\" ;; esac\n\
         done\n\
         export PATH={path}:\"$PATH\"\n\
         export AKASH_HOME={}\n\
         export AKASH_NODE={}\n\
         export AKASH_CHAIN_ID={}\n\
         export AKASH_KEYRING_BACKEND=test\n\
         export AKASH_FROM=tenant\n\
         export CHANGED_SDL={}\n",
        quoted(&home.display().to_string()),
        quoted(node),
        quoted(chain_id),
        quoted(&home.join("hello-2.yaml").display().to_string())
    )
}

/// What a lease has earned up to a height. The chain counts only when somebody asks for payment:
/// what came since is what is paid per block, times the blocks.
pub(super) fn earned(payment: &EscrowPayment, settled_at: u64, height: u64) -> Option<DecCoin> {
    let blocks = match payment.state {
        EscrowState::Open => height.saturating_sub(settled_at),
        EscrowState::Closed | EscrowState::Overdrawn => 0,
    };
    let since = payment.rate.checked_mul_int(blocks).ok()?;
    let withdrawn = i128::try_from(payment.withdrawn.amount()).ok();
    let withdrawn = withdrawn.and_then(akash_types::Dec::checked_from_int)?;
    let withdrawn = DecCoin::new(payment.withdrawn.denom().clone(), withdrawn).ok()?;
    let all = payment.balance.checked_add(&since).ok()?;
    // Nothing was withdrawn yet, perhaps in no denomination at all.
    if withdrawn.is_zero() { Some(all) } else { all.checked_add(&withdrawn).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use akash_types::{DeploymentId, EscrowPaymentId, GroupId, LeaseId, OrderId};

    #[test]
    fn everything_fits_and_can_be_copied() {
        let guide = Guide {
            home: Path::new("/tmp/akash-AbCdEf"),
            dseq: 1_234_567,
            service: "web",
            url: "http://ur2ck6kgntetj5vm5nlqrlv0bk.sim.localhost:8880/",
            has_curl: true,
        };
        let text = guide.render(&Palette::PLAIN);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for Try { line, .. } in guide.tries() {
            assert!(text.contains(&format!("\n  {line}\n")), "{line}");
        }
        let without = Guide { has_curl: false, ..guide.clone() };
        assert_eq!(without.tries(), guide.tries()[1..]);
    }

    #[test]
    fn earnings_are_what_was_counted_and_what_came_since() {
        let owner = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r".parse().unwrap();
        let provider = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap();
        let group = GroupId::new(DeploymentId::new(owner, 7).unwrap(), 1).unwrap();
        let lease = LeaseId::new(OrderId::new(group, 1).unwrap(), provider);
        let payment = EscrowPayment {
            id: EscrowPaymentId::from(lease),
            owner: provider,
            state: EscrowState::Open,
            rate: "0.5uact".parse().unwrap(),
            balance: "2.5uact".parse().unwrap(),
            unsettled: "0uact".parse().unwrap(),
            withdrawn: "10uact".parse().unwrap(),
        };
        assert_eq!(earned(&payment, 100, 110), Some("17.5uact".parse().unwrap()));
        assert_eq!(earned(&payment, 100, 99), Some("12.5uact".parse().unwrap()));
        let closed = EscrowPayment { state: EscrowState::Closed, ..payment };
        assert_eq!(earned(&closed, 100, 110), Some("12.5uact".parse().unwrap()));
    }
}
