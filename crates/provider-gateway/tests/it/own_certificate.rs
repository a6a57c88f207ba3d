//! The provider's own certificate: made, published, replaced before its end.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use akash_keys::SecretKey;
use akash_keys::certificate::{
    Certificate, CertificateKey, CertificateSpec, KeyFile, KeyFilePassword, KeyPair,
};
use akash_types::{Action, Address, Outcome};
use futures_util::future::BoxFuture;
use provider_gateway::auth::LookupFailure;
use provider_gateway::certs::{
    OnChain, OwnCertificate, OwnCertificateError, OwnCertificates, Plan, Publisher, Vault,
    VaultFailure, Why,
};
use provider_gateway::tls::{ServerCertificates, certified};

const HOST: &str = "provider.example.com";

/// What is published. Refuses messages while it is told to, and says nothing while it is silent.
#[derive(Default)]
struct Chain {
    published: Mutex<Vec<OnChain>>,
    silent: Mutex<u32>,
    refuses: Mutex<u32>,
    /// Takes messages and forgets them.
    forgets: bool,
    /// How often it was asked, and how often something was sent.
    asked: Mutex<(u32, u32)>,
}

/// Takes one from a count; whether there was one.
fn take(count: &Mutex<u32>) -> bool {
    let mut count = count.lock().unwrap();
    let left = count.checked_sub(1);
    *count = left.unwrap_or(0);
    left.is_some()
}

impl OwnCertificates for Chain {
    fn published(&self, _: Address) -> BoxFuture<'_, Result<Vec<OnChain>, LookupFailure>> {
        self.asked.lock().unwrap().0 += 1;
        let answer = if take(&self.silent) {
            Err(LookupFailure::Unavailable("no node".into()))
        } else {
            Ok(self.published.lock().unwrap().clone())
        };
        Box::pin(async move { answer })
    }
}

impl Publisher for Chain {
    fn submit(&self, action: Action) -> BoxFuture<'_, Outcome> {
        self.asked.lock().unwrap().1 += 1;
        if take(&self.refuses) {
            return Box::pin(async { Outcome::Expired });
        }
        if self.forgets {
            return Box::pin(async { Outcome::Executed { height: 1 } });
        }
        let mut published = self.published.lock().unwrap();
        match action {
            Action::CreateCertificate { serial, certificate, .. } => {
                published.push(OnChain { serial, valid: true, pem: certificate });
            }
            Action::RevokeCertificate { serial } => {
                let found = published.iter_mut().find(|item| item.serial == serial);
                found.unwrap().valid = false;
            }
            other => panic!("{other:?}"),
        }
        Box::pin(async { Outcome::Executed { height: 1 } })
    }
}

fn account() -> SecretKey {
    SecretKey::from_bytes(&[5; 32]).unwrap()
}

fn address() -> Address {
    account().public_key().address()
}

async fn open(home: &Path) -> OwnCertificate {
    let password = KeyFilePassword::of(&account());
    let domains = vec![HOST.to_owned()];
    OwnCertificate::open(home.to_owned(), address(), password, domains).await.unwrap()
}

/// Keeps it until the plan says to keep it, and says what was planned until then.
async fn settle(own: OwnCertificate, chain: &Arc<Chain>) -> (Arc<ServerCertificates>, Vec<Plan>) {
    let shown = Arc::new(ServerCertificates::new(certified(own.current()).unwrap()));
    let plans = Mutex::new(Vec::new());
    let (settled, mut is_settled) = tokio::sync::watch::channel(false);
    let told = |done: Result<&Plan, &_>| {
        let plan = done.cloned().unwrap_or(Plan::Wait);
        settled.send_replace(matches!(plan, Plan::Keep { .. }));
        plans.lock().unwrap().push(plan);
    };
    tokio::select! {
        () = own.keep(chain.clone(), chain.clone(), shown.clone(), told) => {}
        _ = is_settled.wait_for(|settled| *settled) => {}
    }
    (shown, plans.into_inner().unwrap())
}

fn in_file(home: &Path) -> KeyPair {
    KeyFile::of(home, &address()).read(&KeyFilePassword::of(&account())).unwrap()
}

#[tokio::test(start_paused = true)]
async fn it_is_made_where_there_is_none_and_published_until_the_chain_has_it() {
    let home = tempfile::tempdir().unwrap();
    let own = open(home.path()).await;
    let made = own.current().clone();
    assert_eq!(made, in_file(home.path()));
    let life = made.certificate().not_after().duration_since(made.certificate().not_before());
    assert_eq!(life.unwrap(), CertificateSpec::VALID_FOR);
    let chain = Arc::new(Chain::default());
    (*chain.silent.lock().unwrap(), *chain.refuses.lock().unwrap()) = (2, 1);
    let (_, plans) = settle(own, &chain).await;
    let Plan::Keep { until } = plans.last().unwrap() else { panic!("{plans:?}") };
    assert!(*until > SystemTime::now() + Duration::from_hours(24 * 340));
    // Twice silent, once refused, then published.
    assert_eq!(plans[..4], [Plan::Wait, Plan::Wait, Plan::Wait, Plan::PublishCurrent]);
    let pem = made.certificate().to_pem().into_bytes();
    assert_eq!(chain.published.lock().unwrap()[0].pem, pem);
    // The next start finds it.
    assert_eq!(open(home.path()).await.current(), &made);
}

#[tokio::test(start_paused = true)]
async fn before_its_end_it_is_replaced_by_one_that_is_published_first() {
    let home = tempfile::tempdir().unwrap();
    let old = ending();
    let password = KeyFilePassword::of(&account());
    KeyFile::of(home.path(), &address()).write(&old, &password, false).unwrap();
    let chain = Arc::new(Chain::default());
    let pem = old.certificate().to_pem().into_bytes();
    chain.published.lock().unwrap().push(OnChain { serial: "1".into(), valid: true, pem });
    let own = open(home.path()).await;
    assert_eq!(own.current(), &old);
    let (_, plans) = settle(own, &chain).await;
    let expected = [
        Plan::Create(Why::Ends),
        Plan::PublishNext,
        Plan::Adopt,
        Plan::Revoke { serial: "1".into() },
    ];
    assert_eq!(plans[..4], expected);
    assert!(matches!(plans[4..], [Plan::Keep { .. }]), "{plans:?}");
    let new = in_file(home.path());
    assert_ne!(new, old);
    let published = chain.published.lock().unwrap();
    let state = |pair: &KeyPair| {
        let serial = pair.certificate().serial();
        published.iter().find(|item| item.serial == serial).map(|item| item.valid)
    };
    assert_eq!((state(&old), state(&new)), (Some(false), Some(true)));
}

/// A certificate that has to be replaced now.
fn ending() -> KeyPair {
    let spec = CertificateSpec {
        owner: address(),
        serial: 1,
        not_before: SystemTime::now() - Duration::from_mins(90),
        valid_for: Duration::from_hours(2),
        domains: vec![HOST.to_owned()],
    };
    KeyPair::generate(&spec, CertificateKey::from_bytes(&[1; 32]).unwrap()).unwrap()
}

/// How often the chain is asked and told something within an hour that leads to nothing.
async fn an_hour(chain: Chain, home: &Path) -> (u32, u32) {
    let own = open(home).await;
    let shown = Arc::new(ServerCertificates::new(certified(own.current()).unwrap()));
    let chain = Arc::new(chain);
    // Who does not pause never gets to the end of the hour, and would be asked for ever.
    let told = |_: Result<&Plan, &_>| {
        let asked = chain.asked.lock().unwrap().0;
        assert!(asked < 1000, "asked without a pause");
    };
    let keeping = own.keep(chain.clone(), chain.clone(), shown, told);
    assert!(tokio::time::timeout(Duration::from_hours(1), keeping).await.is_err());
    *chain.asked.lock().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_published_is_tried_four_times_a_minute() {
    let often = 4 * 60;
    let refusing = || Chain { refuses: Mutex::new(u32::MAX), ..Chain::default() };
    let forgetting = || Chain { forgets: true, ..Chain::default() };
    for chain in [refusing(), forgetting()] {
        let home = tempfile::tempdir().unwrap();
        let (asked, sent) = an_hour(chain, home.path()).await;
        assert!((often - 2..=often + 2).contains(&asked), "asked {asked} times");
        assert!((often - 2..=often + 2).contains(&sent), "sent {sent} times");
    }
    // The same for one that is to replace another: it is made once, and then waits.
    for chain in [refusing(), forgetting()] {
        let home = tempfile::tempdir().unwrap();
        let old = ending();
        let password = KeyFilePassword::of(&account());
        KeyFile::of(home.path(), &address()).write(&old, &password, false).unwrap();
        let pem = old.certificate().to_pem().into_bytes();
        chain.published.lock().unwrap().push(OnChain { serial: "1".into(), valid: true, pem });
        let (asked, sent) = an_hour(chain, home.path()).await;
        assert!((often - 2..=often + 2).contains(&asked), "asked {asked} times");
        assert!((often - 2..=often + 2).contains(&sent), "sent {sent} times");
        assert_eq!(in_file(home.path()), old);
    }
}

#[tokio::test(start_paused = true)]
async fn a_certificate_that_cannot_be_written_is_not_made_without_end() {
    let home = tempfile::tempdir().unwrap();
    let old = ending();
    let password = KeyFilePassword::of(&account());
    KeyFile::of(home.path(), &address()).write(&old, &password, false).unwrap();
    let chain = Chain::default();
    let pem = old.certificate().to_pem().into_bytes();
    chain.published.lock().unwrap().push(OnChain { serial: "1".into(), valid: true, pem });
    // Where the next one would wait is no directory.
    std::fs::write(home.path().join("next-certificate"), "in the way").unwrap();
    let own = open(home.path()).await;
    let shown = Arc::new(ServerCertificates::new(certified(own.current()).unwrap()));
    let (chain, failed) = (Arc::new(chain), Mutex::new(0));
    let told = |done: Result<&Plan, &_>| {
        let mut failed = failed.lock().unwrap();
        *failed += u32::from(done.is_err());
        assert!(*failed < 100, "tried without a pause");
    };
    let keeping = own.keep(chain.clone(), chain.clone(), shown, told);
    assert!(tokio::time::timeout(Duration::from_mins(1), keeping).await.is_err());
    assert!((3..=5).contains(&*failed.lock().unwrap()), "{failed:?}");
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let file = KeyFile::of(home.path(), &address());
    std::fs::write(file.path(), "precious").unwrap();
    let password = KeyFilePassword::of(&account());
    let opened = OwnCertificate::open(home.path().to_owned(), address(), password, vec![]).await;
    assert!(opened.is_err());
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "precious");
}

/// A place that is somewhere else, and may not answer.
#[derive(Default)]
struct Elsewhere {
    kept: Mutex<Option<String>>,
    is_silent: std::sync::atomic::AtomicBool,
}

impl Elsewhere {
    fn answer(&self) -> Result<std::sync::MutexGuard<'_, Option<String>>, VaultFailure> {
        match self.is_silent.load(std::sync::atomic::Ordering::Relaxed) {
            true => Err(VaultFailure("silent".to_owned())),
            false => Ok(self.kept.lock().unwrap()),
        }
    }

    fn is_silent(&self, is_silent: bool) {
        self.is_silent.store(is_silent, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Vault for Elsewhere {
    fn read(&self) -> BoxFuture<'_, Result<Option<String>, VaultFailure>> {
        Box::pin(async { self.answer().map(|kept| kept.clone()) })
    }

    fn write(&self, text: String) -> BoxFuture<'_, Result<(), VaultFailure>> {
        Box::pin(async { self.answer().map(|mut kept| *kept = Some(text)) })
    }
}

async fn open_kept(
    home: &Path,
    vault: &Arc<Elsewhere>,
) -> Result<OwnCertificate, OwnCertificateError> {
    let password = KeyFilePassword::of(&account());
    let vault: Arc<dyn Vault> = vault.clone();
    let domains = vec![HOST.to_owned()];
    OwnCertificate::open_kept(home.to_owned(), address(), password, domains, vault).await
}

#[tokio::test]
async fn a_certificate_that_is_kept_elsewhere_outlives_its_home() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (chain, vault) = (Arc::new(Chain::default()), Arc::new(Elsewhere::default()));
    // Nobody knows whether there is one: none is made.
    vault.is_silent(true);
    assert!(open_kept(first.path(), &vault).await.is_err());
    let file = |home: &Path| KeyFile::of(home, &address()).path().to_owned();
    assert!(!file(first.path()).exists());

    vault.is_silent(false);
    let own = open_kept(first.path(), &vault).await.unwrap();
    let shown = own.current().certificate().serial().to_owned();
    settle(own, &chain).await;
    let text = std::fs::read_to_string(file(first.path())).unwrap();
    assert_eq!(vault.kept.lock().unwrap().as_deref(), Some(&*text));

    // Another home: the same certificate, nothing new on chain.
    let own = open_kept(second.path(), &vault).await.unwrap();
    assert_eq!(own.current().certificate().serial(), shown);
    assert_eq!(std::fs::read_to_string(file(second.path())).unwrap(), text);
    settle(own, &chain).await;
    assert_eq!(chain.published.lock().unwrap().len(), 1);

    // With the file, silence does not matter; what is kept is replaced by what is shown.
    vault.is_silent(true);
    let own = open_kept(second.path(), &vault).await.unwrap();
    assert_eq!(own.current().certificate().serial(), shown);
    vault.is_silent(false);
    *vault.kept.lock().unwrap() = Some("something else".to_owned());
    settle(own, &chain).await;
    assert_eq!(vault.kept.lock().unwrap().as_deref(), Some(&*text));

    // What another account kept is neither shown nor replaced.
    let third = tempfile::tempdir().unwrap();
    *vault.kept.lock().unwrap() = Some("something else".to_owned());
    assert!(open_kept(third.path(), &vault).await.is_err());
    assert_eq!(vault.kept.lock().unwrap().as_deref(), Some("something else"));
}

#[tokio::test]
async fn files_of_an_authority_are_taken_when_they_change_and_fit() {
    use base64::Engine as _;
    use provider_gateway::certs::AuthorityFiles;
    let directory = tempfile::tempdir().unwrap();
    let (chain, key) = (directory.path().join("tls.crt"), directory.path().join("tls.key"));
    let mut files = AuthorityFiles::new(chain.clone(), key.clone());
    assert!(files.changed().await.unwrap().is_none());
    let pair = |seed: u8| {
        let spec = CertificateSpec {
            owner: address(),
            serial: seed.into(),
            not_before: SystemTime::now(),
            valid_for: Duration::from_hours(1),
            domains: vec![],
        };
        let pair = KeyPair::generate(&spec, CertificateKey::from_bytes(&[seed; 32]).unwrap());
        let pair = pair.unwrap();
        let der = pair.key().to_pkcs8_der().unwrap();
        let text = base64::engine::general_purpose::STANDARD.encode(der.as_slice());
        let key = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
        (pair.certificate().to_pem(), key)
    };
    let shown = |pair: Option<Arc<rustls::sign::CertifiedKey>>| {
        let der = pair.unwrap().cert[0].to_vec();
        Certificate::from_der(der).unwrap().serial().to_owned()
    };
    std::fs::write(&chain, pair(1).0).unwrap();
    assert!(files.changed().await.is_err());
    std::fs::write(&key, pair(1).1).unwrap();
    assert_eq!(shown(files.changed().await.unwrap()), "1");
    assert!(files.changed().await.unwrap().is_none());
    // Half of a renewal is told once and changes nothing.
    std::fs::write(&chain, pair(2).0).unwrap();
    assert!(files.changed().await.is_err());
    assert!(files.changed().await.unwrap().is_none());
    std::fs::write(&key, pair(2).1).unwrap();
    assert_eq!(shown(files.changed().await.unwrap()), "2");
    std::fs::remove_file(&chain).unwrap();
    assert!(files.changed().await.unwrap().is_none());
}
