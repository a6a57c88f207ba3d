//! Deployment groups as tables.

use akash_sdl::Manifest;
use akash_types::{Attribute, Endpoint, EndpointKind, Gpu, GroupSpec, ResourceUnit, Storage};

use super::table::{Table, wrap};
use super::{Palette, WIDTH, bids, printable};

const INDENT: &str = "  ";
const COLUMNS: [&str; 8] =
    ["SERVICE", "COUNT", "CPU", "MEMORY", "STORAGE", "GPU", "ENDPOINTS", "PRICE"];

/// Each group with what it asks of providers, its resources and the highest price.
///
/// The manifest knows which services the resources are for.
pub(crate) fn render_groups(
    groups: &[GroupSpec],
    manifest: &Manifest,
    palette: &Palette,
) -> String {
    let texts: Vec<String> =
        groups.iter().map(|group| render_group(group, manifest, palette)).collect();
    texts.join("\n")
}

fn render_group(group: &GroupSpec, manifest: &Manifest, palette: &Palette) -> String {
    let strong = palette.strong;
    let mut text = format!("{strong}group {}{strong:#}\n", printable(&group.name));
    for line in requirements(group) {
        for part in wrap(&line, WIDTH - INDENT.len()) {
            text.push_str(&format!("{INDENT}{part}\n"));
        }
    }
    text.push('\n');
    let mut table = Table::new(&COLUMNS);
    for unit in &group.resources {
        table.push(row(unit, &services(manifest, &group.name, unit.resources.id)));
    }
    text.push_str(&table.render(INDENT, WIDTH, palette));
    if let Ok(total) = group.total_price() {
        text.push_str(&format!(
            "\n{INDENT}At most {} per block in all; prices above are for one replica.\n",
            bids::price(&total)
        ));
    }
    text
}

fn requirements(group: &GroupSpec) -> Vec<String> {
    let signed_by = &group.requirements.signed_by;
    let attributes = &group.requirements.attributes;
    let mut lines = Vec::new();
    if !attributes.is_empty() {
        let pairs: Vec<String> = attributes.iter().map(pair).collect();
        lines.push(format!("on providers with {}", pairs.join(", ")));
    }
    for (list, words) in
        [(signed_by.all(), "audited by all of"), (signed_by.any(), "audited by one of")]
    {
        if !list.is_empty() {
            lines.push(format!("{words} {}", printable(&list.join(", "))));
        }
    }
    if lines.is_empty() {
        lines.push("on any provider".to_owned());
    }
    lines
}

fn pair(attribute: &Attribute) -> String {
    printable(&format!("{}={}", attribute.key, attribute.value))
}

/// The services of a group that use a resource unit.
fn services(manifest: &Manifest, group: &str, unit: u32) -> Vec<String> {
    let group = manifest.groups.iter().find(|candidate| candidate.name == group);
    let services = group.map(|group| group.services.as_slice()).unwrap_or_default();
    services
        .iter()
        .filter(|service| service.resources.id == unit)
        .map(|service| printable(&service.name))
        .collect()
}

fn row(unit: &ResourceUnit, services: &[String]) -> Vec<Vec<String>> {
    let resources = &unit.resources;
    let mut cpu = vec![bids::cores(resources.cpu.units)];
    cpu.extend(resources.cpu.attributes.iter().map(pair));
    vec![
        services.to_vec(),
        vec![unit.count.to_string()],
        cpu,
        vec![bids::bytes(resources.memory.quantity)],
        or_dash(resources.storage.iter().map(volume).collect()),
        gpu(&resources.gpu),
        endpoints(&resources.endpoints),
        vec![bids::price(&unit.price)],
    ]
}

fn or_dash(lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() { vec!["-".to_owned()] } else { lines }
}

/// `1Gi`, or `data 10Gi beta3`, or `shm 1Gi ram`.
fn volume(volume: &Storage) -> String {
    let mut parts = Vec::new();
    // The name that a volume has if it is given none.
    if volume.name != "default" {
        parts.push(printable(&volume.name));
    }
    parts.push(bids::bytes(volume.quantity));
    match volume.class() {
        Some(class) => parts.push(printable(class)),
        None if volume.is_persistent() => parts.push("persistent".to_owned()),
        None => {}
    }
    parts.join(" ")
}

/// `2`, or `1 nvidia a100 80Gi`, with a line for each other card that will do.
fn gpu(gpu: &Gpu) -> Vec<String> {
    if gpu.units == 0 {
        return or_dash(Vec::new());
    }
    let cards = gpu.attributes.iter().map(|attribute| {
        // vendor/nvidia/model/a100/ram/80Gi: every second part goes without saying.
        let values = attribute.key.split('/').skip(1).step_by(2);
        let values: Vec<&str> =
            values.map(|value| if value == "*" { "any" } else { value }).collect();
        printable(&values.join(" "))
    });
    let mut lines: Vec<String> = cards
        .enumerate()
        .map(
            |(index, card)| {
                if index == 0 { format!("{} {card}", gpu.units) } else { format!("or {card}") }
            },
        )
        .collect();
    if lines.is_empty() {
        lines.push(gpu.units.to_string());
    }
    lines
}

/// The ways in, each with its number if there are several.
fn endpoints(endpoints: &[Endpoint]) -> Vec<String> {
    let kinds = EndpointKind::ALL.into_iter().filter_map(|kind| {
        let name = match kind {
            EndpointKind::SharedHttp => "http",
            EndpointKind::RandomPort => "port",
            EndpointKind::LeasedIp => "ip",
        };
        match endpoints.iter().filter(|endpoint| endpoint.kind == kind).count() {
            0 => None,
            1 => Some(name.to_owned()),
            count => Some(format!("{name} ×{count}")),
        }
    });
    or_dash(kinds.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_listed_with_their_alternatives() {
        let with = |units, keys: &[&str]| Gpu {
            units,
            attributes: keys.iter().map(|key| Attribute::new(*key, "true")).collect(),
        };
        assert_eq!(gpu(&with(0, &["vendor/nvidia/model/*"])), ["-"]);
        assert_eq!(gpu(&with(2, &[])), ["2"]);
        assert_eq!(gpu(&with(2, &["vendor/nvidia/model/*"])), ["2 nvidia any"]);
        assert_eq!(
            gpu(&with(1, &["vendor/nvidia/model/a100/ram/80Gi", "vendor/amd/model/mi100"])),
            ["1 nvidia a100 80Gi", "or amd mi100"]
        );
    }

    #[test]
    fn volumes_and_endpoints_in_few_words() {
        let volume_of = |name: &str, pairs: &[(&str, &str)]| {
            volume(&Storage {
                name: name.to_owned(),
                quantity: 1 << 30,
                attributes: pairs.iter().map(|(key, value)| Attribute::new(*key, *value)).collect(),
            })
        };
        assert_eq!(volume_of("default", &[]), "1Gi");
        assert_eq!(volume_of("shm", &[("persistent", "false"), ("class", "ram")]), "shm 1Gi ram");
        assert_eq!(volume_of("data", &[("persistent", "true")]), "data 1Gi persistent");
        let endpoint = |kind| Endpoint { kind, sequence_number: 0 };
        let all = [EndpointKind::LeasedIp, EndpointKind::SharedHttp, EndpointKind::LeasedIp];
        assert_eq!(endpoints(&all.map(endpoint)), ["http", "ip ×2"]);
        assert_eq!(endpoints(&[]), ["-"]);
    }
}
