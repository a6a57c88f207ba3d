//! What is to be done about the provider's own certificate.

use std::time::{Duration, SystemTime};

use akash_keys::certificate::Certificate;
use der::Decode;
use der::oid::db::rfc5280::ID_KP_SERVER_AUTH;
use x509_cert::ext::pkix::ExtendedKeyUsage;

/// How long before its end a certificate is replaced: long enough for an operator to notice that
/// publishing fails.
pub const RENEW_BEFORE: Duration = Duration::from_hours(14 * 24);

/// What is in the home directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local<'a> {
    pub current: Option<&'a Certificate>,
    pub next: Option<&'a Certificate>,
}

/// A certificate as the account has published it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnChain {
    /// Its number in decimal.
    pub serial: String,
    /// Whether it is not revoked.
    pub valid: bool,
    pub pem: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Nothing, until this moment.
    Keep {
        until: SystemTime,
    },
    /// Make a new one: as the current one if there is none, beside it otherwise.
    Create(Why),
    PublishCurrent,
    PublishNext,
    /// Show the next one, and make it the current one.
    Adopt,
    Revoke {
        /// Its number in decimal.
        serial: String,
    },
    /// Nothing, because nobody knows what is published. What is there is shown.
    Wait,
}

/// Why a new one is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There is none.
    Missing,
    /// It ends soon, or has ended.
    Ends,
    Revoked,
    /// Another one is published under its number.
    Clash,
    /// It is not for servers: clients would not believe it.
    NotForServers,
}

/// What is to be done at `now`, given what is in the home directory and what is published;
/// `None` if that is not known.
pub fn plan(now: SystemTime, local: Local<'_>, published: Option<&[OnChain]>) -> Plan {
    let Some(current) = local.current else { return Plan::Create(Why::Missing) };
    let Some(published) = published else { return Plan::Wait };
    let why = match needs_replacing(now, current) {
        Some(why) => why,
        None => match found(current, published) {
            Found::Valid => return settled(current, published),
            Found::Nowhere => return Plan::PublishCurrent,
            Found::Revoked => Why::Revoked,
            Found::Other => Why::Clash,
        },
    };
    let Some(next) = local.next else { return Plan::Create(why) };
    if let Some(why) = needs_replacing(now, next) {
        return Plan::Create(why);
    }
    match found(next, published) {
        Found::Valid => Plan::Adopt,
        Found::Nowhere => Plan::PublishNext,
        Found::Revoked => Plan::Create(Why::Revoked),
        Found::Other => Plan::Create(Why::Clash),
    }
}

/// The current one is good and published: what it replaced is revoked, one after the other.
fn settled(current: &Certificate, published: &[OnChain]) -> Plan {
    let replaced = published.iter().filter(|item| item.valid && item.serial != current.serial());
    let replaced = replaced.filter(|item| read(item).is_some_and(|old| is_replaced(&old, current)));
    match replaced.min_by_key(|item| (item.serial.len(), item.serial.clone())) {
        Some(item) => Plan::Revoke { serial: item.serial.clone() },
        None => Plan::Keep { until: replace_at(current) },
    }
}

/// Whether `old` was a provider's certificate at whose end `current` was made. One that was to
/// last longer was made for something else, such as a second installation: it is not ours to end.
fn is_replaced(old: &Certificate, current: &Certificate) -> bool {
    is_for_servers(old)
        && old.not_before() < current.not_before()
        && replace_at(old) <= current.not_before()
}

fn needs_replacing(now: SystemTime, certificate: &Certificate) -> Option<Why> {
    if !is_for_servers(certificate) {
        Some(Why::NotForServers)
    } else if now >= replace_at(certificate) {
        Some(Why::Ends)
    } else {
        None
    }
}

/// When it is replaced: before its end, but not in the first half of its life.
fn replace_at(certificate: &Certificate) -> SystemTime {
    let (start, end) = (certificate.not_before(), certificate.not_after());
    let life = end.duration_since(start).unwrap_or_default();
    end.checked_sub(RENEW_BEFORE.min(life / 2)).unwrap_or(start)
}

fn is_for_servers(certificate: &Certificate) -> bool {
    let parsed = x509_cert::Certificate::from_der(certificate.der());
    parsed.is_ok_and(|parsed| {
        let purposes = parsed.tbs_certificate().get_extension::<ExtendedKeyUsage>();
        matches!(purposes, Ok(Some((_, purposes))) if purposes.0.contains(&ID_KP_SERVER_AUTH))
    })
}

/// How a certificate stands on chain.
enum Found {
    Valid,
    Revoked,
    Other,
    Nowhere,
}

fn found(certificate: &Certificate, published: &[OnChain]) -> Found {
    let Some(item) = published.iter().find(|item| item.serial == certificate.serial()) else {
        return Found::Nowhere;
    };
    match read(item) {
        Some(same) if same.der() != certificate.der() => Found::Other,
        _ if !item.valid => Found::Revoked,
        Some(_) => Found::Valid,
        None => Found::Other,
    }
}

fn read(item: &OnChain) -> Option<Certificate> {
    Certificate::from_pem(std::str::from_utf8(&item.pem).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyPair};

    use super::*;

    const DAY: u64 = 24 * 3600;

    fn day(day: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs((20_000 + day) * DAY)
    }

    /// A certificate for 365 days from `from`.
    fn certificate(serial: u64, from: u64, domains: &[&str]) -> Certificate {
        let spec = CertificateSpec {
            owner: "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap(),
            serial,
            not_before: day(from),
            valid_for: CertificateSpec::VALID_FOR,
            domains: domains.iter().map(|domain| (*domain).to_owned()).collect(),
        };
        let key = CertificateKey::from_bytes(&[7; 32]).unwrap();
        KeyPair::generate(&spec, key).unwrap().certificate().clone()
    }

    fn on_chain(certificate: &Certificate, valid: bool) -> OnChain {
        let (serial, pem) = (certificate.serial().to_owned(), certificate.to_pem().into_bytes());
        OnChain { serial, valid, pem }
    }

    #[test]
    fn what_is_done_follows_from_what_is_there() {
        let (one, two) = (certificate(1, 0, &["a"]), certificate(2, 352, &["a"]));
        let clash = certificate(1, 3, &["a"]);
        let client = certificate(3, 0, &[]);
        let keep = |from: u64| Plan::Keep { until: day(from + 365 - 14) };
        let revoke = |serial: &str| Plan::Revoke { serial: serial.to_owned() };
        let on = |items: &[(&Certificate, bool)]| -> Option<Vec<OnChain>> {
            Some(items.iter().map(|(item, valid)| on_chain(item, *valid)).collect())
        };
        let (c1, c2, none) = (Some(&one), Some(&two), None);
        #[rustfmt::skip]
        let table = [
            ("nothing, chain unknown", 0, none, none, None, Plan::Create(Why::Missing)),
            ("nothing, one published", 0, none, none, on(&[(&one, true)]), Plan::Create(Why::Missing)),
            ("new", 0, c1, none, on(&[]), Plan::PublishCurrent),
            ("chain unknown", 0, c1, none, None, Plan::Wait),
            ("chain unknown at the end", 364, c1, c2, None, Plan::Wait),
            ("published", 1, c1, none, on(&[(&one, true)]), keep(0)),
            ("a client's of the same account stays", 1, c1, none, on(&[(&one, true), (&client, true)]), keep(0)),
            ("revoked", 1, c1, none, on(&[(&one, false)]), Plan::Create(Why::Revoked)),
            ("another of its number", 1, c1, none, on(&[(&clash, true)]), Plan::Create(Why::Clash)),
            ("not for servers", 1, Some(&client), none, on(&[(&client, true)]), Plan::Create(Why::NotForServers)),
            ("a day before", 350, c1, none, on(&[(&one, true)]), keep(0)),
            ("ends soon", 351, c1, none, on(&[(&one, true)]), Plan::Create(Why::Ends)),
            ("next is made", 352, c1, c2, on(&[(&one, true)]), Plan::PublishNext),
            ("next is published", 352, c1, c2, on(&[(&one, true), (&two, true)]), Plan::Adopt),
            ("next is revoked", 352, c1, c2, on(&[(&one, true), (&two, false)]), Plan::Create(Why::Revoked)),
            ("next is old too", 705, c1, c2, on(&[(&one, true), (&two, true)]), Plan::Create(Why::Ends)),
            ("next is adopted", 352, c2, none, on(&[(&one, true), (&two, true)]), revoke("1")),
            ("old is revoked", 352, c2, none, on(&[(&one, false), (&two, true)]), keep(352)),
            ("old ended", 400, c1, none, on(&[(&one, true)]), Plan::Create(Why::Ends)),
        ];
        for (case, now, current, next, published, expected) in table {
            let local = Local { current, next };
            assert_eq!(plan(day(now), local, published.as_deref()), expected, "{case}");
        }
    }

    #[test]
    fn a_second_installation_keeps_its_certificate() {
        let (ours, theirs) = (certificate(2, 100, &["a"]), certificate(1, 50, &["a"]));
        let published = [on_chain(&theirs, true), on_chain(&ours, true)];
        let local = Local { current: Some(&ours), next: None };
        assert!(matches!(plan(day(101), local, Some(&published)), Plan::Keep { .. }));
    }

    #[test]
    fn nothing_that_is_published_is_unreadable_for_long() {
        let one = certificate(1, 0, &["a"]);
        let local = Local { current: Some(&one), next: None };
        let broken = OnChain { pem: b"nonsense".to_vec(), ..on_chain(&one, true) };
        assert_eq!(plan(day(1), local, Some(&[broken])), Plan::Create(Why::Clash));
    }
}
