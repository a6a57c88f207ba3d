//! What to do with a devnet, to be copied.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::genesis::Start;
use crate::cli::NAME;
use crate::output::{Palette, printable};

/// What there is to say.
pub(super) struct Guide<'a> {
    pub(super) start: &'a Start,
    pub(super) state: &'a Path,
    pub(super) rpc: SocketAddr,
    pub(super) grpc: SocketAddr,
    pub(super) api: SocketAddr,
    pub(super) block_time: Duration,
    pub(super) has_faucet: bool,
    pub(super) has_keys: bool,
}

impl Guide<'_> {
    pub(super) fn render(&self, palette: &Palette) -> String {
        let Self { start, rpc, grpc, api, block_time, .. } = self;
        let (strong, frame) = (palette.strong, palette.frame);
        let state = printable(&self.state.display().to_string());
        let mut text = format!(
            "{strong}devnet {} is running{strong:#}, a block every {block_time:?}, kept in {state}\n\n  \
             rpc     http://{rpc}\n  grpc    http://{grpc}\n  \
             rest    http://{api}\n",
            printable(&start.chain_id)
        );
        if self.has_faucet {
            text.push_str(&format!("  faucet  curl 'http://{rpc}/faucet?address=akash1…'\n"));
        }
        text.push('\n');
        let width = start.accounts.iter().map(|grant| grant.name.chars().count()).max();
        for grant in &start.accounts {
            let name = printable(&grant.name);
            let coins: Vec<String> = grant.coins.iter().map(ToString::to_string).collect();
            let coins = coins.join(",");
            text.push_str(&format!(
                "  {name:<width$}  {}\n  {:<width$}  {coins}\n",
                grant.address,
                "",
                width = width.unwrap_or_default()
            ));
        }
        text.push_str(&format!("\n{frame}# in another shell{frame:#}\n"));
        if self.has_keys {
            text.push_str(&format!("export AKASH_HOME={}\n", quoted(&state)));
            text.push_str("export AKASH_KEYRING_BACKEND=test\n");
        }
        text.push_str(&format!(
            "export AKASH_NODE=http://{rpc}\nexport AKASH_CHAIN_ID={}\n",
            quoted(&start.chain_id)
        ));
        if self.has_keys {
            text.push_str(&format!(
                "{NAME} keys list\n{NAME} tx deployment create deploy.yaml --from tenant -y\n"
            ));
        }
        text.push_str(&format!(
            "{NAME} query market order list --state open -o table\n\n\
             Ctrl-C stops it; the same command goes on where it was.\n"
        ));
        text
    }
}

/// A word for a shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("/home/a/.akash/devnet"), "/home/a/.akash/devnet");
        assert_eq!(quoted("a b's"), r"'a b'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
