//! What is fixed before a world begins: who there is, what machines, which settings.

use std::time::Duration;

use akash_types::{Address, Attribute, Coin, Dec, DecCoin, Denom, Provider};
use provider_engine::Settings;
use provider_engine::lease::Patience;
use provider_engine::manifest::ManifestSettings;
use provider_engine::order::pricing::{Decimal, Pricing, Scales};
use provider_sim::core::{ClusterSpec, Settings as ClusterSettings};

use super::dice::Dice;
use super::world::Wallet;

/// How long faults go on.
pub(crate) const TROUBLE: Duration = Duration::from_secs(42 * 60);
/// How long everybody then has to come to rest.
pub(crate) const QUIET: Duration = Duration::from_secs(20 * 60);
/// How long a new process then has to come to the same state.
pub(crate) const AGAIN: Duration = Duration::from_secs(6 * 60);
/// The least price per block that the policy allows.
pub(crate) const FLOOR: i128 = 100;
/// How long a lease that lost its workload waits for its manifest.
pub(crate) const LOST_MANIFEST: Duration = Duration::from_secs(8 * 60);
/// How many tenants there are.
const TENANTS: u64 = 4;

/// What is fixed before a world begins.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) seed: u64,
    pub(crate) provider: Wallet,
    pub(crate) rival: Wallet,
    pub(crate) tenants: Vec<Wallet>,
    pub(crate) cluster: ClusterSpec,
    pub(crate) cluster_settings: ClusterSettings,
    pub(crate) settings: Settings,
    pub(crate) gas_price: Vec<DecCoin>,
    pub(crate) record: Provider,
    pub(crate) defect: Option<super::Defect>,
}

impl Scenario {
    /// The scenario of a seed. `None` only if a text in here cannot be read.
    pub(crate) fn of(seed: u64) -> Option<Self> {
        let mut dice = Dice::new(seed, 5);
        let provider = Wallet::numbered(0)?;
        let machines = "2*node:cpu=24,memory=96Gi,disk=400Gi,storage=beta3:300Gi;\
                        gpu:cpu=16,memory=64Gi,disk=400Gi,gpu=2*a100/80/pcie,storage=beta3:100Gi";
        let spec: ClusterSpec = machines.parse().ok()?;
        let attribute = |key: &str, value: &str| Attribute::new(key, value);
        let record = Provider {
            owner: provider.address,
            host_uri: "https://provider.example.com:8443".to_owned(),
            attributes: vec![
                attribute("region", "west"),
                attribute("capabilities/storage/1/class", "beta3"),
                attribute("capabilities/storage/1/persistent", "true"),
                attribute("capabilities/gpu/vendor/nvidia/model/a100", "true"),
            ],
            email: String::new(),
            website: String::new(),
        };
        Some(Self {
            seed,
            rival: Wallet::numbered(1)?,
            tenants: (2..2 + TENANTS).filter_map(Wallet::numbered).collect(),
            cluster: ClusterSpec { ips: Some(6), ..spec },
            cluster_settings: ClusterSettings {
                uid: Some("sim-own".into()),
                ..ClusterSettings::default()
            },
            settings: settings(&mut dice, provider.address)?,
            gas_price: vec!["0.025uakt".parse().ok()?],
            record,
            provider,
            defect: None,
        })
    }

    /// Everybody who has money at the start.
    pub(crate) fn wallets(&self) -> Vec<Address> {
        let both = [self.provider.address, self.rival.address];
        both.into_iter().chain(self.tenants.iter().map(|wallet| wallet.address)).collect()
    }
}

fn settings(dice: &mut Dice, provider: Address) -> Option<Settings> {
    let pricing = match dice.below(3) {
        0 => Pricing::Script,
        1 => Pricing::RandomRange,
        _ => {
            let storage = Scales::parse_storage("0.01,beta3=0.02").ok()?;
            let cpu = Decimal::parse("1").ok()?;
            Pricing::Scale(Box::new(Scales { cpu, storage, ..Scales::default() }))
        }
    };
    let coin = |text: &str| text.parse::<Coin>().ok();
    let usual = Settings::new(provider, coin("500000uakt")?, coin("5000uakt")?, pricing);
    let mut escrow = usual.escrow.clone();
    escrow.check_every = Duration::from_secs(300);
    escrow.withdraw_every = Duration::from_secs(20 * 60);
    let mut policy = usual.policy.clone();
    let denom: Denom = "uact".parse().ok()?;
    let per_block = Dec::checked_from_int(FLOOR)?;
    policy.floors.insert(denom, per_block);
    Some(Settings {
        seed: dice.next(),
        escrow,
        policy,
        patience: Patience {
            unhealthy_checks: 12,
            unschedulable_checks: 40,
            redeploy_checks: 3,
            lost_manifest: LOST_MANIFEST,
        },
        manifest: ManifestSettings {
            generated_under: Some("sim.localhost".to_owned()),
            ..ManifestSettings::default()
        },
        ..usual
    })
}
