//! `profiles.compute.<name>`: what one replica gets.

use akash_types::attribute::validate;
use akash_types::{Attribute, Cpu as CpuResource, CpuArch};

use super::quantity::{self, QuantityProblem};
use super::reader::{Key, Named, Reader, Spot, is_null};
use crate::problem::{Path, Place, Shown};
use crate::yaml::{Content, Node};

#[derive(Clone, Debug)]
pub(crate) struct Compute<'d> {
    pub(crate) name: Key<'d>,
    pub(crate) resources: Option<Resources<'d>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Resources<'d> {
    pub(crate) place: Place,
    pub(crate) cpu: Option<Cpu>,
    pub(crate) memory: Option<Spot<u64>>,
    pub(crate) gpu: Option<Gpu>,
    /// In the order that goes into the manifest.
    pub(crate) storage: Vec<Volume<'d>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    /// Thousandths.
    pub(crate) units: Spot<u64>,
    pub(crate) attributes: Vec<Attribute>,
}

#[derive(Clone, Debug)]
pub(crate) struct Gpu {
    pub(crate) units: Spot<u64>,
    pub(crate) attributes: Vec<Attribute>,
}

impl Gpu {
    /// The group with which the cards form one fabric; empty for none.
    pub(crate) fn interconnect_group(&self) -> &str {
        let group = self.attributes.iter().find(|attribute| attribute.key == INTERCONNECT_GROUP);
        group.filter(|_| self.units.value > 0).map_or("", |attribute| &attribute.value)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Volume<'d> {
    pub(crate) name: &'d str,
    pub(crate) size: Spot<u64>,
    /// Sorted by key; empty when the SDL gives none.
    pub(crate) attributes: Vec<Attribute>,
}

/// Key of the GPU attribute that names the group of an interconnect.
const INTERCONNECT_GROUP: &str = akash_types::Gpu::INTERCONNECT_GROUP;
/// The group of all profiles of a placement that want an interconnect and name no group.
pub(crate) const AUTO_GROUP: &str = "auto";
const DEFAULT_VOLUME: &str = "default";
const STORAGE_CLASSES: [&str; 5] = ["default", "beta1", "beta2", "beta3", RAM];
const RAM: &str = "ram";

impl<'d> Compute<'d> {
    pub(crate) fn decode<'a>(
        reader: &mut Reader<'d, 'a>,
        name: Key<'d>,
        node: &'d Node<'a>,
        path: Path<'_>,
    ) -> Self {
        let mut resources = None;
        reader.mapping(node, path, |reader, key, value, path| match key.value {
            "resources" => resources = Resources::decode(reader, value, path),
            _ => reader.unknown_key(key, path, "resources"),
        });
        Self { name, resources }
    }
}

impl<'d> Resources<'d> {
    fn decode<'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) -> Option<Self> {
        let mut resources =
            Self { place: node.place, cpu: None, memory: None, gpu: None, storage: Vec::new() };
        let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
            "cpu" => resources.cpu = cpu(reader, value, path),
            "memory" => resources.memory = memory(reader, value, path),
            "gpu" => resources.gpu = gpu(reader, value, path),
            "storage" => resources.storage = storage(reader, value, path),
            _ => reader.unknown_key(key, path, "cpu, memory, storage, gpu"),
        });
        is_mapping.then_some(resources)
    }
}

fn quantity<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
    parse: impl Fn(&str) -> Result<u64, QuantityProblem>,
) -> Spot<u64> {
    let value = reader.text(node, path).map_or(0, |text| match parse(text.value) {
        Ok(value) => value,
        Err((message, allowed)) => {
            reader.problem_allowing(path, text.place, message, allowed);
            0
        }
    });
    Spot { value, place: node.place }
}

fn cpu<'d, 'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) -> Option<Cpu> {
    let mut cpu = Cpu { units: Spot { value: 0, place: node.place }, attributes: Vec::new() };
    let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
        "units" => cpu.units = quantity(reader, value, path, quantity::cpu),
        "attributes" => {
            reader.mapping(value, path, |reader, key, value, path| {
                if key.value != CpuResource::ARCH {
                    let message = format!("unsupported cpu attribute {}", Shown(key.value));
                    return reader.problem_allowing(path, key.place, message, "arch");
                }
                let arch = reader.text(value, path).map_or("", |text| text.value);
                match arch.parse::<CpuArch>() {
                    Ok(_) => cpu.attributes.push(Attribute::new(key.value, arch)),
                    Err(unknown) => {
                        let message = unknown.to_string();
                        reader.problem_allowing(path, value.place, message, "amd64 or arm64");
                    }
                }
            });
        }
        _ => {
            let message = format!("unsupported field ({}) for CPU resource", key.value);
            reader.problem_allowing(path, key.place, message, "units, attributes");
        }
    });
    is_mapping.then_some(cpu)
}

fn memory<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Option<Spot<u64>> {
    let mut size = Spot { value: 0, place: node.place };
    let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
        "size" => size = quantity(reader, value, path, quantity::bytes),
        _ => reader.unknown_key(key, path, "size"),
    });
    is_mapping.then_some(size)
}

fn gpu<'d, 'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) -> Option<Gpu> {
    let mut gpu = Gpu { units: Spot { value: 0, place: node.place }, attributes: Vec::new() };
    let mut attributes_given = false;
    let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
        "units" => gpu.units = quantity(reader, value, path, quantity::gpu),
        "attributes" if is_null(value) => {}
        "attributes" => {
            attributes_given = true;
            gpu.attributes = gpu_attributes(reader, value, path);
        }
        _ => {
            let message = format!("unsupported field {} for a GPU", Shown(key.value));
            reader.problem_allowing(path, key.place, message, "units, attributes");
        }
    });
    if gpu.units.value > 0 && !attributes_given {
        reader.problem_allowing(
            path,
            gpu.units.place,
            "GPU attributes must be present if units > 0",
            "attributes: {vendor: {nvidia: [{model: a100}]}}, or an empty nvidia: for any model",
        );
    }
    let group = gpu.attributes.iter().find(|attribute| attribute.key == INTERCONNECT_GROUP);
    if let Some(group) = group.filter(|_| gpu.units.value == 0) {
        let message = format!(
            "gpu.attributes.interconnect cannot be set when gpu.units == 0 (group={:?})",
            group.value
        );
        reader.problem(path, gpu.units.place, message);
    }
    is_mapping.then_some(gpu)
}

/// The group of an interconnect: `[]` for [`AUTO_GROUP`], `{group: NAME}` for another.
fn interconnect<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Option<&'d str> {
    const ALLOWED: &str = "[] or {group: NAME}";
    let refused = match &node.content {
        Content::Sequence(items) if items.len() == 0 => return Some(AUTO_GROUP),
        Content::Sequence(_) => {
            "gpu.attributes.interconnect: only the empty sequence form `[]` is accepted; use \
             `{group: <name>}` for explicit groups"
        }
        Content::Mapping(_) => {
            let mut group = "";
            reader.mapping(node, path, |reader, key, value, path| match key.value {
                "group" => group = reader.text(value, path).map_or("", |text| text.value),
                _ => reader.unknown_key(key, path, "group"),
            });
            match group {
                "" => {
                    "gpu.attributes.interconnect: `group` is required when using the mapping form"
                }
                AUTO_GROUP => {
                    "gpu.attributes.interconnect.group: \"auto\" is a reserved name (parser \
                     auto-assigns it to `interconnect: []` resources); pick a different name"
                }
                group => return Some(group),
            }
        }
        Content::Scalar(_) => {
            "gpu.attributes.interconnect: expected `[]` or `{group: <name>}`; bare scalar \
             (including `true`/`false`) is no longer accepted"
        }
    };
    reader.problem_allowing(path, node.place, refused, ALLOWED);
    None
}

fn gpu_attributes<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Vec<Attribute> {
    let (mut models, mut group) = (None, None);
    let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
        "interconnect" => group = interconnect(reader, value, path),
        "vendor" if is_null(value) => {}
        "vendor" => models = Some(vendor(reader, value, path)),
        _ => {
            let message = format!("unsupported attribute ({}) for a GPU", key.value);
            reader.problem_allowing(path, key.place, message, "vendor, interconnect");
        }
    });
    if !is_mapping {
        return Vec::new();
    }
    let Some(mut attributes) = models else {
        reader.problem_allowing(
            path,
            node.place,
            "at least one vendor must be set",
            "vendor: {nvidia: …}",
        );
        return Vec::new();
    };
    if attributes.is_empty() {
        attributes.push(Attribute::new("vendor/nvidia/model/*", "true"));
    }
    attributes.extend(group.map(|group| Attribute::new(INTERCONNECT_GROUP, group)));
    attributes.sort_by(|a, b| a.key.cmp(&b.key));
    check_attributes(reader, &attributes, path, node.place);
    attributes
}

fn check_attributes(
    reader: &mut Reader<'_, '_>,
    attributes: &[Attribute],
    path: Path<'_>,
    place: Place,
) {
    if let Err(error) = validate(attributes) {
        reader.problem(path, place, error.to_string());
    }
}

/// Only nvidia is known: any other vendor is passed over, and a map without nvidia stands for
/// any nvidia model. That is what existing tools put on chain.
fn vendor<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Vec<Attribute> {
    let mut attributes = Vec::new();
    reader.mapping(node, path, |reader, key, value, path| {
        if key.value == "nvidia" {
            attributes = reader.list(value, path, gpu_model).unwrap_or_default();
        } else {
            reader.lint(
                path,
                key.place,
                "only nvidia is known; this vendor is ignored and any nvidia model is asked for",
            );
        }
    });
    attributes
}

fn gpu_model<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Option<Attribute> {
    let (mut model, mut ram, mut interface) = ("", None, None);
    let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
        "model" => model = reader.text(value, path).map_or("", |text| text.value),
        "ram" if is_null(value) => {}
        "ram" => ram = Some(quantity(reader, value, path, quantity::gpu_ram_gi).value),
        "interface" => {
            interface = reader.text(value, path).map(|text| text.value);
            if let Some(other) = interface.filter(|name| !matches!(*name, "pcie" | "sxm")) {
                let message = format!("{} is not a GPU interface", Shown(other));
                reader.problem_allowing(path, value.place, message, "pcie or sxm");
            }
        }
        _ => reader.unknown_key(key, path, "model, ram, interface"),
    });
    if !is_mapping {
        return None;
    }
    let mut name = format!("vendor/nvidia/model/{model}");
    if let Some(gi) = ram {
        name.push_str(&format!("/ram/{gi}Gi"));
    }
    if let Some(interface) = interface {
        name.push_str("/interface/");
        name.push_str(interface);
    }
    Some(Attribute::new(name, "true"))
}

/// One volume as a mapping, or several as a list.
fn storage<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Vec<Volume<'d>> {
    let mut volumes = match &node.content {
        Content::Sequence(_) => reader.list(node, path, volume).unwrap_or_default(),
        Content::Mapping(_) => {
            // A lone volume has no choice of name.
            volume(reader, node, path)
                .map(|volume| Volume { name: DEFAULT_VOLUME, ..volume })
                .into_iter()
                .collect()
        }
        Content::Scalar(_) if is_null(node) => Vec::new(),
        Content::Scalar(_) => {
            reader.wrong_kind(node, path, "a mapping with a size, or a list of them");
            Vec::new()
        }
    };
    let mut seen: Vec<&str> = Vec::with_capacity(volumes.len());
    for volume in &volumes {
        if seen.contains(&volume.name) {
            reader.problem_allowing(
                path,
                volume.size.place,
                format!("duplicated volume name {}", Shown(volume.name)),
                "each volume has its own name; without one it is called \"default\"",
            );
        }
        seen.push(volume.name);
    }
    sort_volumes(&mut volumes);
    volumes
}

fn volume<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Option<Volume<'d>> {
    let mut volume = Volume {
        name: DEFAULT_VOLUME,
        size: Spot { value: 0, place: node.place },
        attributes: Vec::new(),
    };
    let is_mapping = reader.mapping(node, path, |reader, key, value, path| match key.value {
        "name" => {
            if let Some(name) = reader.text(value, path).filter(|name| !name.value.is_empty()) {
                volume.name = name.value;
            }
        }
        "size" => volume.size = quantity(reader, value, path, quantity::bytes),
        "attributes" if is_null(value) => {}
        "attributes" => volume.attributes = storage_attributes(reader, value, path),
        _ => reader.unknown_key(key, path, "name, size, attributes"),
    });
    is_mapping.then_some(volume)
}

fn storage_attributes<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Vec<Attribute> {
    let attributes: Named<'d, Spot<&'d str>> =
        reader.named(node, path, |reader, key, value, path| {
            if !matches!(key.value, "persistent" | "class") {
                let message = format!("unsupported storage attribute {}", Shown(key.value));
                reader.problem_allowing(path, key.place, message, "persistent, class");
            }
            reader.text(value, path).unwrap_or(Spot { value: "", place: value.place })
        });
    let persistent = attributes.get("persistent").copied();
    let class = attributes.get("class").copied();
    if persistent.is_none() || class.is_none() {
        reader.lint(path, node.place, "the schema wants both persistent and class");
    }
    let persistent = persistent.unwrap_or(Spot { value: "false", place: node.place });
    let class = storage_class(reader, persistent.value, class, path.key("class"));
    let persistent = match persistent.value {
        "true" | "on" | "yes" => "true",
        "false" | "off" | "no" => "false",
        other => {
            let message = format!("{} is neither true nor false", Shown(other));
            let path = path.key("persistent");
            reader.problem_allowing(path, persistent.place, message, "true or false");
            "false"
        }
    };
    let mut result = Vec::with_capacity(2);
    result.extend(class.map(|class| Attribute::new("class", class)));
    result.push(Attribute::new("persistent", persistent));
    result
}

/// The class rules look at `persistent` as it was written, before `yes` becomes `true`: that is
/// why `persistent: yes` without a class stays without one.
fn storage_class<'d>(
    reader: &mut Reader<'d, '_>,
    persistent: &str,
    class: Option<Spot<&'d str>>,
    path: Path<'_>,
) -> Option<&'d str> {
    let Some(Spot { value: class, place }) = class.filter(|class| {
        // An empty class next to `persistent: true` counts as none.
        !(class.value.is_empty() && persistent == "true")
    }) else {
        return (persistent == "true").then_some("default");
    };
    if class == RAM && persistent != "false" {
        let message = "ram storage class cannot be persistent";
        reader.problem_allowing(path, place, message, "persistent: false");
    } else if !STORAGE_CLASSES.contains(&class) {
        let message = format!("{} is not a storage class", Shown(class));
        let allowed = format!("one of {}", STORAGE_CLASSES.join(", "));
        reader.problem_allowing(path, place, message, allowed);
    } else if class != RAM && persistent == "false" {
        let message = "ephemeral storage should not set attribute class";
        let allowed = "leave class out, or set persistent: true";
        reader.problem_allowing(path, place, message, allowed);
    }
    Some(class)
}

/// The order of volumes goes into the hash, so it has to be the one that existing tools make:
/// an insertion sort with a comparison that calls two non-persistent volumes of equal size
/// "less" in both directions and thereby turns their order round.
fn sort_volumes(volumes: &mut [Volume<'_>]) {
    for end in 1..volumes.len() {
        let mut at = end;
        while let Some([left, right]) =
            at.checked_sub(1).and_then(|left| volumes.get_mut(left..=at))
        {
            if !goes_before(right, left) {
                break;
            }
            std::mem::swap(left, right);
            at -= 1;
        }
    }
}

fn goes_before(a: &Volume<'_>, b: &Volume<'_>) -> bool {
    if a.size.value != b.size.value {
        return a.size.value < b.size.value;
    }
    let persistent = |volume: &Volume<'_>| {
        volume
            .attributes
            .iter()
            .find(|attribute| attribute.key == "persistent")
            .map(|attribute| attribute.value == "true")
    };
    match (persistent(a), persistent(b)) {
        (None, Some(_)) | (Some(false), Some(true)) => true,
        (Some(_), None) => false,
        (Some(true), Some(true)) => a.name < b.name,
        (Some(true), Some(false)) => false,
        (None, None) | (Some(false), Some(false)) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(name: &'static str, size: u64, persistent: Option<&str>) -> Volume<'static> {
        Volume {
            name,
            size: Spot { value: size, place: Place { line: 1, column: 1 } },
            attributes: persistent
                .map(|value| Attribute::new("persistent", value))
                .into_iter()
                .collect(),
        }
    }

    fn sorted(mut volumes: Vec<Volume<'static>>) -> String {
        sort_volumes(&mut volumes);
        volumes.iter().map(|volume| volume.name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn volume_order() {
        let plain = |name| volume(name, 1, None);
        assert_eq!(sorted(vec![plain("a"), plain("b"), plain("c")]), "c b a");
        assert_eq!(
            sorted(vec![volume("p", 1, Some("true")), volume("n", 1, Some("false")), plain("x")]),
            "x n p"
        );
        assert_eq!(sorted(vec![volume("z", 1, Some("true")), volume("a", 1, Some("true"))]), "a z");
        assert_eq!(
            sorted(vec![volume("big", 2, None), volume("small", 1, Some("true"))]),
            "small big"
        );
    }
}
