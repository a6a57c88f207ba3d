use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_keys::certificate::{Certificate, CertificateKey, CertificateSpec, KeyPair};
use akash_types::Address;
use arc_swap::ArcSwapOption;
use futures_util::future::BoxFuture;

use super::*;
use crate::auth::lookup::{Certificates, LookupFailure};

const OWNER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
const START: u64 = 1_700_000_000;

fn pair(serial: u64, seed: u8, domains: &[&str]) -> KeyPair {
    let spec = CertificateSpec {
        owner: OWNER.parse().unwrap(),
        serial,
        not_before: at(START),
        valid_for: Duration::from_hours(1),
        domains: domains.iter().map(|domain| (*domain).to_owned()).collect(),
    };
    KeyPair::generate(&spec, CertificateKey::from_bytes(&[seed; 32]).unwrap()).unwrap()
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

fn presented(pair: &KeyPair) -> ClientCertificate {
    ClientCertificate::presented(&[pair.certificate().der()]).unwrap()
}

#[test]
fn certificates_of_clients_and_of_servers_are_both_the_owners() {
    for domains in [&[][..], &["localhost", "127.0.0.1"]] {
        let pair = pair(7, 1, domains);
        let shown = presented(&pair);
        assert_eq!((shown.owner(), shown.serial()), (OWNER.parse().unwrap(), "7"));
        let pem = pair.certificate().to_pem();
        assert_eq!(shown.agrees(Some(pem.as_bytes()), at(START)).unwrap(), shown.owner());
    }
}

#[test]
fn a_certificate_that_a_go_client_made_is_read() {
    let pem = include_str!("../../../../../fixtures/keyring/certificate/client.pem");
    let certificate = Certificate::from_pem(pem).unwrap();
    let shown = ClientCertificate::presented(&[certificate.der()]).unwrap();
    assert_eq!(shown.owner(), certificate.owner().unwrap());
    let published = Some(pem.as_bytes());
    assert!(shown.agrees(published, certificate.not_before()).is_ok());
}

#[test]
fn it_is_valid_in_its_time_and_as_it_is_published_only() {
    let pair_ = pair(7, 1, &[]);
    let shown = presented(&pair_);
    let pem = pair_.certificate().to_pem().into_bytes();
    // Same owner, number and time, another key.
    let other = pair(7, 2, &[]).certificate().to_pem().into_bytes();
    let end = START + 3600;
    type Expected = fn(&Result<Address, Refusal>) -> bool;
    let cases: [(Option<&[u8]>, u64, Expected); 9] = [
        (Some(&pem), START - 1, |r| matches!(r, Err(Refusal::NotYetValid))),
        (Some(&pem), START, Result::is_ok),
        (Some(&pem), end, Result::is_ok),
        (Some(&pem), end + 1, |r| matches!(r, Err(Refusal::Expired))),
        (None, START, |r| matches!(r, Err(Refusal::NotPublished))),
        (Some(&other), START, |r| matches!(r, Err(Refusal::OtherPublished))),
        (Some(b""), START, |r| matches!(r, Err(Refusal::OtherPublished))),
        (Some(&pem[..pem.len() / 2]), START, |r| matches!(r, Err(Refusal::OtherPublished))),
        (Some(b"\xff\xfe"), START, |r| matches!(r, Err(Refusal::OtherPublished))),
    ];
    for (case, (published, now, expected)) in cases.into_iter().enumerate() {
        let result = shown.agrees(published, at(now));
        assert!(expected(&result), "case {case}: {result:?}");
    }
}

#[test]
fn what_no_account_can_have_published_is_refused_without_a_lookup() {
    let der = pair(7, 1, &[]).certificate().der().to_vec();
    let refused = |chain: &[Vec<u8>]| ClientCertificate::presented(chain).unwrap_err();
    assert!(matches!(refused(&[]), Refusal::Count { got: 0 }));
    assert!(matches!(refused(&[der.clone(), der.clone()]), Refusal::Count { got: 2 }));
    assert!(matches!(refused(&[b"nonsense".to_vec()]), Refusal::Unreadable(_)));
    // The name stands in the issuer first, then in the subject; both as long as before.
    let places: Vec<usize> = der
        .windows(OWNER.len())
        .enumerate()
        .filter(|(_, w)| *w == OWNER.as_bytes())
        .map(|(at, _)| at)
        .collect();
    let with = |place: usize| {
        let mut changed = der.clone();
        changed[place + OWNER.len() - 1] = b'q';
        changed
    };
    assert!(matches!(refused(&[with(places[0])]), Refusal::Issuer));
    assert!(matches!(refused(&[with(places[1])]), Refusal::CommonName(_)));
    // clientAuth is 1.3.6.1.5.5.7.3.2; as …3.4 it is for mail.
    let client_auth = [0x2b, 6, 1, 5, 5, 7, 3, 2];
    let place = der.windows(8).position(|window| window == client_auth).unwrap();
    let mut mail = der.clone();
    mail[place + 7] = 4;
    assert!(matches!(refused(&[mail]), Refusal::Purpose));
    // Key usage (2.5.29.15) is critical; as 2.5.29.99 nobody knows it.
    let place = der.windows(3).position(|window| window == [0x55, 0x1d, 15]).unwrap();
    let mut strange = der.clone();
    strange[place + 2] = 99;
    let error = refused(&[strange]);
    assert!(matches!(&error, Refusal::CriticalExtension { id } if id == "2.5.29.99"), "{error}");
}

/// A chain whose answers change.
#[derive(Default)]
struct Chain {
    published: ArcSwapOption<Vec<u8>>,
    broken: std::sync::atomic::AtomicBool,
    asked: AtomicUsize,
}

impl Certificates for Chain {
    fn valid_certificate<'a>(
        &'a self,
        _: Address,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LookupFailure>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let answer = if self.broken.load(Ordering::Relaxed) {
            Err(LookupFailure::Unavailable("no node".into()))
        } else {
            Ok(self.published.load().as_deref().cloned())
        };
        Box::pin(async move { answer })
    }
}

#[tokio::test]
async fn an_answer_is_remembered_and_no_answer_is_none() {
    let pair = pair(7, 1, &[]);
    let shown = presented(&pair);
    let chain = Arc::new(Chain::default());
    let check = CertificateCheck::new(chain.clone(), Arc::new(|_| false));
    chain.broken.store(true, Ordering::Relaxed);
    assert!(matches!(check.owner(&shown, at(START)).await, Err(Refusal::Unknown(_))));
    chain.broken.store(false, Ordering::Relaxed);
    chain.published.store(Some(Arc::new(pair.certificate().to_pem().into_bytes())));
    for _ in 0..3 {
        assert!(check.owner(&shown, at(START)).await.is_ok());
    }
    assert_eq!(chain.asked.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn questions_of_strangers_do_not_push_out_what_is_known_of_tenants() {
    let pair = pair(7, 1, &[]);
    let shown = presented(&pair);
    let chain = Arc::new(Chain::default());
    let check = CertificateCheck::new(chain.clone(), Arc::new(|_| false));
    chain.published.store(Some(Arc::new(pair.certificate().to_pem().into_bytes())));
    assert!(check.owner(&shown, at(START)).await.is_ok());
    chain.published.store(None);
    for serial in 100..10_000 {
        let none = check.published((shown.owner(), serial.to_string())).await.unwrap();
        assert_eq!(none, None);
    }
    let asked = chain.asked.load(Ordering::Relaxed);
    chain.broken.store(true, Ordering::Relaxed);
    assert!(check.owner(&shown, at(START)).await.is_ok());
    assert_eq!(chain.asked.load(Ordering::Relaxed), asked, "it is remembered");
}

#[tokio::test(start_paused = true)]
async fn a_revoked_certificate_is_not_believed_when_the_chain_does_not_answer() {
    let pair = pair(7, 1, &[]);
    let shown = presented(&pair);
    let chain = Arc::new(Chain::default());
    let check = CertificateCheck::new(chain.clone(), Arc::new(|_| false));
    chain.published.store(Some(Arc::new(pair.certificate().to_pem().into_bytes())));
    assert!(check.owner(&shown, at(START)).await.is_ok());
    // While nothing answers, a good one is believed for longer.
    tokio::time::advance(Duration::from_secs(90)).await;
    chain.broken.store(true, Ordering::Relaxed);
    assert!(check.owner(&shown, at(START)).await.is_ok());
    chain.broken.store(false, Ordering::Relaxed);
    chain.published.store(None);
    assert!(matches!(check.owner(&shown, at(START)).await, Err(Refusal::NotPublished)));
    tokio::time::advance(Duration::from_secs(10)).await;
    chain.broken.store(true, Ordering::Relaxed);
    assert!(matches!(check.owner(&shown, at(START)).await, Err(Refusal::Unknown(_))));
}
