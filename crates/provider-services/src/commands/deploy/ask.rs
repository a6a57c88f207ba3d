//! Showing bids, and having somebody choose.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use akash_chain::tx::message::cert::create_certificate;
use akash_keys::SecretKey;
use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyFile, KeyFilePassword, KeyPair};
use akash_types::{Address, CertificateState, Provider};
use anyhow::{Context, bail};
use tokio::sync::oneshot;

use super::outcome;
use super::outcome::Progress;
use super::plan::{GroupSeen, Offer};
use crate::chain::Wallet;
use crate::console::{Console, Streams};
use crate::output::{BidRow, Palette, render_bids};

/// How often an answer may make no sense.
const TRIES: usize = 3;

/// The bids of each group, cheapest first, numbered from 1.
pub(super) fn bids(
    groups: &[GroupSeen],
    known: &BTreeMap<Address, Provider>,
    block_time: Option<Duration>,
    palette: &Palette,
) -> String {
    let mut text = String::new();
    for group in groups {
        let rows: Vec<BidRow> = sorted(group)
            .into_iter()
            .map(|offer| {
                let provider = offer.bid.provider();
                let attributes = known.get(&provider).map(|provider| {
                    let pairs = provider.attributes.iter();
                    pairs.map(|pair| format!("{}={}", pair.key, pair.value)).collect()
                });
                let month = block_time.and_then(|time| outcome::per_month(&offer.price, time));
                BidRow {
                    provider: provider.to_string(),
                    price: offer.price.clone(),
                    per_month: month.map(|month| outcome::in_coins(&month)).unwrap_or_default(),
                    attributes: attributes.unwrap_or_default(),
                }
            })
            .collect();
        text.push_str(&render_bids(&group.name, &rows, palette));
    }
    text
}

/// Which bid to take for each group, as whoever is there says.
pub(super) async fn ask(groups: &[GroupSeen], console: Console) -> anyhow::Result<Vec<Offer>> {
    let mut chosen = Vec::new();
    for group in groups {
        let offers = sorted(group);
        let prompt = format!("Which bid for group {}? [1]: ", group.name);
        let mut answer = None;
        for _ in 0..TRIES {
            let typed = line(console, prompt.clone()).await?;
            answer = choose(&offers, &typed).cloned();
            if answer.is_some() {
                break;
            }
        }
        match answer {
            Some(offer) => chosen.push(offer),
            None => bail!("no bid was chosen"),
        }
    }
    Ok(chosen)
}

/// A line, read on a thread of its own: a signal must be heard meanwhile, and a read cannot be ended.
async fn line(console: Console, prompt: String) -> anyhow::Result<String> {
    let (to, typed) = oneshot::channel();
    std::thread::spawn(move || {
        // If nobody waits for it any more, it is not missed.
        let _ = to.send(console.line(&prompt, "the number of a bid"));
    });
    let typed = typed.await?.context("give --pick cheapest or --pick ADDRESS to choose")?;
    Ok(typed.to_string())
}

/// The bid that an answer means: its number, or the provider's address; nothing is the first.
fn choose<'a>(offers: &[&'a Offer], answer: &str) -> Option<&'a Offer> {
    let answer = answer.trim();
    if let Ok(address) = answer.parse::<Address>() {
        return offers.iter().find(|offer| offer.bid.provider() == address).copied();
    }
    let number = if answer.is_empty() { 1 } else { answer.parse::<usize>().ok()? };
    offers.get(number.checked_sub(1)?).copied()
}

fn sorted(group: &GroupSeen) -> Vec<&Offer> {
    let mut offers: Vec<&Offer> = group.offers.iter().collect();
    offers.sort_by_key(|offer| offer.price.amount());
    offers
}

/// How long a new one is valid, as in the Go program.
const VALID_FOR: Duration = Duration::from_hours(8760);

/// Makes a certificate unless there is one that is valid, and publishes it unless it is.
pub(super) async fn ensure(
    wallet: &Wallet<'_>,
    secret: &SecretKey,
    home: &Path,
    progress: &Progress,
    streams: &mut Streams<'_>,
) -> anyhow::Result<()> {
    let owner = wallet.address();
    let file = KeyFile::of(home, &owner);
    let password = KeyFilePassword::of(secret);
    let now = SystemTime::now();
    let kept = match file.path().exists() {
        false => None,
        true => {
            let pair = file.read(&password)?;
            let (from, to) = (pair.certificate().not_before(), pair.certificate().not_after());
            (from..=to).contains(&now).then_some(pair)
        }
    };
    let pair = match kept {
        Some(pair) => pair,
        None => {
            let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let serial = u64::try_from(since_1970.as_nanos());
            let spec = CertificateSpec {
                owner,
                serial: serial.context("the clock is far in the future")?,
                not_before: now,
                valid_for: VALID_FOR,
                domains: Vec::new(),
            };
            let pair = KeyPair::generate(&spec, CertificateKey::generate()?)?;
            file.write(&pair, &password, true)?;
            pair
        }
    };
    let certificate = pair.certificate();
    let serial = certificate.serial();
    let query = wallet.network.query();
    if query.certificate(owner, serial, CertificateState::Valid).await?.value.is_some() {
        return Ok(());
    }
    let (pem, key) = (certificate.to_pem(), certificate.public_key_pem());
    let message = create_certificate(owner, pem.into_bytes(), key.into_bytes())?;
    wallet.send(&[message]).await.context("cannot publish the certificate")?;
    progress.done("certificate published", streams);
    Ok(())
}

#[cfg(test)]
mod tests {
    use akash_types::{BidId, DeploymentId, GroupId, OrderId};

    use super::*;

    const FIRST: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
    const SECOND: &str = "akash10z3dccmx6ysj58tn4sgk95tv0xy84mwcj5ypkx";

    fn offer(provider: &str, price: &str) -> Offer {
        let owner = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r".parse().unwrap();
        let group = GroupId::new(DeploymentId::new(owner, 7).unwrap(), 1).unwrap();
        let bid = BidId::new(OrderId::new(group, 1).unwrap(), provider.parse().unwrap());
        Offer { bid, price: price.parse().unwrap() }
    }

    #[test]
    fn an_answer_is_a_number_an_address_or_nothing() {
        let (dear, cheap) = (offer(FIRST, "2uact"), offer(SECOND, "1uact"));
        let offers = [&cheap, &dear];
        assert_eq!(choose(&offers, ""), Some(&cheap));
        assert_eq!(choose(&offers, " 2 "), Some(&dear));
        assert_eq!(choose(&offers, FIRST), Some(&dear));
        for wrong in ["0", "3", "x", "-1", "akash1365yvmc4s7awdyj3n2sav7xfx76adc6dnmlx63"] {
            assert_eq!(choose(&offers, wrong), None, "{wrong}");
        }
    }
}
