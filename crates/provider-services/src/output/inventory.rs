//! What a provider has to sell, and what is left of it.

use provider_daemon::ctl::wire::{Amount, Gpu, Inventory, Node};

use super::ctl::row;
use super::table::Table;
use super::{Palette, WIDTH};

const INDENT: &str = "  ";
const KIB: i64 = 1024;
const UNITS: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

pub(super) fn inventory(inventory: &Inventory, palette: &Palette) -> String {
    let Palette { strong, warning, .. } = palette;
    let mut text = String::new();
    if !inventory.fresh {
        text.push_str(&format!(
            "{warning}The cluster does not answer{warning:#}: this was seen last.\n\n"
        ));
    }
    let mut section = |title: &str, table: Option<Table>| {
        let table = table.map(|table| table.render(INDENT, WIDTH, palette));
        let table = table.unwrap_or_else(|| format!("{INDENT}none\n"));
        text.push_str(&format!("{strong}{title}{strong:#}\n{table}"));
    };
    section("Nodes", nodes(inventory));
    section("\nGPUs", gpus(inventory));
    section("\nPersistent storage", storage(inventory));
    if inventory.leased_ips.allocatable > 0 {
        let Amount { allocatable, available } = inventory.leased_ips;
        text.push_str(&format!("\nLeased addresses: {available} of {allocatable} left\n"));
    }
    if let Some(ports) = inventory.ports_available {
        text.push_str(&format!("\nPorts on nodes: {} left\n", ports.max(0)));
    }
    text
}

fn nodes(inventory: &Inventory) -> Option<Table> {
    let mut table = Table::new(&["NODE", "CPU LEFT", "MEMORY", "DISK", "GPUS", "NOT OFFERED"]);
    for node in &inventory.nodes {
        let left = |amount: Amount, text: fn(i64) -> String| {
            format!("{} of {}", text(amount.available), text(amount.allocatable))
        };
        table.push(row([
            &node.name,
            &left(node.cpu_milli, cores),
            &left(node.memory, bytes),
            &left(node.ephemeral_storage, bytes),
            &left(node.gpu, |count| count.to_string()),
            &node.excluded.join("; "),
        ]));
    }
    (!inventory.nodes.is_empty()).then_some(table)
}

fn gpus(inventory: &Inventory) -> Option<Table> {
    let mut table = Table::new(&["NODE", "GPU", "COUNT", "STATE"]);
    let mut is_empty = true;
    for node in &inventory.nodes {
        for (name, count, state) in gpus_of(node) {
            table.push(row([&node.name, &name, &count.to_string(), &state]));
            is_empty = false;
        }
    }
    (!is_empty).then_some(table)
}

/// Name, count and state of all GPUs of a node, of what they are cut into, and of their holders.
fn gpus_of(node: &Node) -> Vec<(String, i64, String)> {
    let gpu = |gpu: &Gpu| {
        let memory = gpu.memory_gib.map(|gib| format!(" {gib}Gi")).unwrap_or_default();
        let interface = gpu.interface.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
        let name = format!("{} {}{memory}{interface}", gpu.vendor, gpu.model);
        let state = match (&*gpu.state, &gpu.reason) {
            ("others", _) => "taken by pods that are not of leases".to_owned(),
            (state, Some(reason)) => format!("{state}: {reason}"),
            (state, None) => state.to_owned(),
        };
        (name, i64::try_from(gpu.count).unwrap_or(i64::MAX), state)
    };
    let device = |(name, count): (&String, &i64)| {
        (name.clone(), *count, "not sold: leases cannot ask for it".to_owned())
    };
    let holders = node.gpu_holders.iter().map(|holder| {
        let model = holder.model.as_deref().unwrap_or("of unknown model");
        let state = format!("held by service {} of {}", holder.service, holder.lease);
        (model.to_owned(), holder.count, state)
    });
    let gpus = node.gpus.iter().map(gpu);
    gpus.chain(node.unsold_devices.iter().map(device)).chain(holders).collect()
}

fn storage(inventory: &Inventory) -> Option<Table> {
    let mut table = Table::new(&["CLASS", "LEFT", "OF", "NOTE"]);
    for class in &inventory.storage {
        let (left, all) = match class.unsold {
            Some(_) => Default::default(),
            None => (bytes(class.bytes.available), bytes(class.bytes.allocatable)),
        };
        let note = match (&class.unsold, &*class.place) {
            (Some(why), _) => format!("not sold: {why}"),
            (None, "node-disk") => "on disks of nodes, shared with pods".to_owned(),
            _ => String::new(),
        };
        table.push(row([&class.class, &left, &all, &note]));
    }
    (!inventory.storage.is_empty()).then_some(table)
}

fn cores(milli: i64) -> String {
    match milli % 1000 {
        0 => (milli / 1000).to_string(),
        rest => format!("{}.{}", milli / 1000, rest / 100),
    }
}

/// Bytes in the largest unit of which there is one, rounded down to a tenth.
fn bytes(count: i64) -> String {
    let (mut unit, mut size) = ("", 1_i64);
    for name in UNITS {
        match size.checked_mul(KIB) {
            Some(next) if count >= next => (unit, size) = (name, next),
            _ => break,
        }
    }
    let tenths = i128::from(count) * 10 / i128::from(size);
    match tenths % 10 {
        0 => format!("{}{unit}", tenths / 10),
        rest => format!("{}.{rest}{unit}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use provider_daemon::ctl::wire::{GpuHolder, StorageClass};

    use super::*;

    fn amount(allocatable: i64, available: i64) -> Amount {
        Amount { allocatable, available }
    }

    #[test]
    fn amounts_are_short() {
        for (count, text) in
            [(0, "0"), (1023, "1023"), (1024, "1Ki"), (1 << 30, "1Gi"), (93 << 29, "46.5Gi")]
        {
            assert_eq!(bytes(count), text);
        }
        assert_eq!(bytes(i64::MAX), "7.9Ei");
        assert_eq!([cores(8000), cores(6550), cores(50)], ["8", "6.5", "0.0"]);
    }

    #[test]
    fn everything_says_why_it_is_not_sold() {
        let gpu = |count, state: &str, reason: Option<&str>| Gpu {
            vendor: "nvidia".to_owned(),
            model: "a100".to_owned(),
            memory_gib: Some(80),
            interface: Some("sxm".to_owned()),
            count,
            state: state.to_owned(),
            reason: reason.map(str::to_owned),
        };
        let node = Node {
            name: "n1".to_owned(),
            excluded: vec!["cordoned".to_owned(), "taint a:NoExecute".to_owned()],
            cpu_milli: amount(8000, 6550),
            memory: amount(16 << 30, 1 << 30),
            ephemeral_storage: amount(100 << 30, 0),
            gpu: amount(2, 1),
            gpus: vec![gpu(1, "usable", None), gpu(1, "unusable", Some("sick"))],
            gpu_holders: vec![GpuHolder {
                lease: "akash1/1/1/1/akash1".to_owned(),
                service: "web".to_owned(),
                model: Some("a100".to_owned()),
                count: 1,
            }],
            unsold_devices: [("nvidia.com/pgpu".to_owned(), 1)].into(),
            ..Node::default()
        };
        let class = |class: &str, place: &str, unsold: Option<&str>| StorageClass {
            class: class.to_owned(),
            bytes: amount(10 << 40, 3 << 39),
            place: place.to_owned(),
            unsold: unsold.map(str::to_owned),
        };
        let shown = Inventory {
            fresh: false,
            nodes: vec![node],
            storage: vec![class("beta3", "shared", None), class("nfs", "", Some("unknown size"))],
            ports_available: Some(-1),
            ..Inventory::default()
        };
        let text = inventory(&shown, &Palette::PLAIN);
        assert_eq!(
            text,
            "\
The cluster does not answer: this was seen last.

Nodes
  NODE  CPU LEFT  MEMORY       DISK        GPUS    NOT OFFERED
  n1    6.5 of 8  1Gi of 16Gi  0 of 100Gi  1 of 2  cordoned; taint a:NoExecute

GPUs
  NODE  GPU                   COUNT  STATE
  n1    nvidia a100 80Gi sxm  1      usable
  n1    nvidia a100 80Gi sxm  1      unusable: sick
  n1    nvidia.com/pgpu       1      not sold: leases cannot ask for it
  n1    a100                  1      held by service web of akash1/1/1/1/akash1

Persistent storage
  CLASS  LEFT   OF    NOTE
  beta3  1.5Ti  10Ti
  nfs                 not sold: unknown size

Ports on nodes: 0 left
"
        );
        let nothing =
            inventory(&Inventory { fresh: true, ..Inventory::default() }, &Palette::PLAIN);
        assert_eq!(nothing, "Nodes\n  none\n\nGPUs\n  none\n\nPersistent storage\n  none\n");
    }
}
