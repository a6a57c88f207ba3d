//! What tenants want to run.

use std::fmt::Write;

use akash_sdl::Sdl;

use crate::simulation::dice::Dice;

/// An SDL of chance. `version` changes what runs without changing what is paid for.
pub(super) fn sdl(shape: &Shape, version: u32) -> Option<Sdl> {
    let mut text = String::from("version: \"2.0\"\n");
    if shape.ip {
        text.push_str("endpoints:\n  front:\n    kind: ip\n");
    }
    text.push_str("services:\n");
    for service in &shape.services {
        let Service { name, image, host, .. } = service;
        let _ = write!(text, "  {name}:\n    image: {image}\n    env: [\"V={version}\"]\n");
        text.push_str("    expose:\n      - port: 80\n");
        if let Some(host) = host {
            let _ = writeln!(text, "        accept: [{host}]");
        }
        text.push_str("        to: [{global: true}]\n");
        if shape.ip {
            text.push_str("      - port: 53\n        to: [{global: true, ip: front}]\n");
        }
        if service.persistent {
            text.push_str("    params:\n      storage:\n        data: {mount: /data}\n");
        }
    }
    text.push_str("profiles:\n  compute:\n");
    for service in &shape.services {
        let Service { name, milli, gpu, persistent, .. } = service;
        let _ = write!(text, "    {name}:\n      resources:\n        cpu: {{units: {milli}m}}\n");
        let _ = writeln!(text, "        memory: {{size: {}Mi}}", milli / 2 + 128);
        if *persistent {
            text.push_str("        storage:\n          - size: 1Gi\n          - name: data\n");
            text.push_str("            size: 20Gi\n");
            text.push_str("            attributes: {persistent: true, class: beta3}\n");
        } else {
            text.push_str("        storage: {size: 1Gi}\n");
        }
        if *gpu > 0 {
            let _ = write!(text, "        gpu:\n          units: {gpu}\n          attributes:\n");
            text.push_str(
                "            vendor:\n              nvidia:\n                - model: a100\n",
            );
        }
    }
    text.push_str("  placement:\n");
    for group in 0..shape.groups {
        let _ = write!(text, "    g{group}:\n      attributes: {{region: {}}}\n", shape.region);
        text.push_str("      pricing:\n");
        for service in &shape.services {
            let amount = shape.price;
            let _ = writeln!(text, "        {}: {{denom: uact, amount: {amount}}}", service.name);
        }
    }
    text.push_str("deployment:\n");
    for service in &shape.services {
        let Service { name, count, .. } = service;
        let _ = writeln!(text, "  {name}:");
        for group in 0..shape.groups {
            let _ = writeln!(text, "    g{group}: {{profile: {name}, count: {count}}}");
        }
    }
    Sdl::read(&text).ok()
}

#[derive(Clone, Debug)]
pub(super) struct Shape {
    services: Vec<Service>,
    pub(super) groups: u64,
    ip: bool,
    region: &'static str,
    price: u64,
}

#[derive(Clone, Debug)]
struct Service {
    name: &'static str,
    image: &'static str,
    host: Option<String>,
    milli: u64,
    count: u64,
    gpu: u64,
    persistent: bool,
}

impl Shape {
    /// What a tenant orders. Spam is many small groups.
    pub(super) fn draw(dice: &mut Dice, spam: bool) -> Self {
        let groups = match dice.below(10) {
            _ if spam => dice.between(6, 12),
            0..6 => 1,
            6..9 => 2,
            _ => dice.between(3, 5),
        };
        let two = dice.chance(250) && !spam;
        let names: &[&'static str] = if two { &["api", "web"] } else { &["web"] };
        let ip = dice.chance(100);
        let services = names.iter().map(|name| Service::draw(dice, name, groups > 1)).collect();
        Self {
            services,
            groups,
            ip,
            region: if dice.chance(60) { "east" } else { "west" },
            price: if dice.chance(60) { 20 } else { dice.between(4_000, 12_000) },
        }
    }
}

impl Service {
    fn draw(dice: &mut Dice, name: &'static str, several: bool) -> Self {
        let image = match dice.below(40) {
            0 => "example/crash",
            1 => "example/missing",
            2..4 => "example/flaky",
            4..7 => "example/slow",
            7..10 => "example/stuck",
            10 => "example/refused",
            _ => "nginx",
        };
        // Few names, so that they collide; groups of one deployment would collide with each other.
        let host = (dice.chance(400) && !several && name == "web")
            .then(|| format!("host{}.example.com", dice.below(12)));
        Self {
            name,
            image,
            host,
            milli: dice.between(1, 16) * 250,
            count: dice.between(1, 3),
            gpu: u64::from(dice.chance(80)),
            persistent: dice.chance(120),
        }
    }
}
