//! Which GPU a tenant accepts, as written in the keys of GPU attributes.
//!
//! Knows nothing of the cards a node has; comparing the two is placement's business.

use std::fmt;
use std::str::FromStr;

use crate::causes::shortened;
use crate::{Gpu, attribute};

/// One acceptable kind of card: `vendor/<v>/model/<m>[/ram/<r>][/interface/<i>]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GpuRequest {
    /// Who makes the card.
    pub vendor: GpuVendor,
    /// Which card.
    pub model: GpuModel,
    /// How much memory the card must have, in whole GiB; any amount if absent.
    pub ram_gib: Option<u64>,
    /// How the card is attached; any way if absent.
    pub interface: Option<GpuInterface>,
}

/// Makers of cards that a provider knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GpuVendor {
    /// NVIDIA.
    Nvidia,
    /// AMD.
    Amd,
}

impl GpuVendor {
    /// Name in keys.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nvidia => "nvidia",
            Self::Amd => "amd",
        }
    }
}

/// Which model is acceptable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GpuModel {
    /// Any: `*`.
    Any,
    /// This one, e.g. `a100`.
    Named(String),
}

/// How a card is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GpuInterface {
    /// A card in a PCI Express slot.
    Pcie,
    /// A module on an SXM socket.
    Sxm,
}

impl GpuInterface {
    /// Name in keys.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pcie => "pcie",
            Self::Sxm => "sxm",
        }
    }
}

impl Gpu {
    /// Key of the attribute that asks for an interconnect and names the group of peers.
    pub const INTERCONNECT_GROUP: &'static str = "interconnect/group";

    /// The group of peers with which the cards shall form one fabric, if that is asked for.
    pub fn interconnect_group(&self) -> Option<&str> {
        attribute::find(&self.attributes, Self::INTERCONNECT_GROUP)
    }

    /// The cards that are acceptable, in list order; empty means any card.
    pub fn requests(&self) -> Result<Vec<GpuRequest>, GpuKeyError> {
        self.attributes.iter().map(|attribute| attribute.key.parse()).collect()
    }
}

impl FromStr for GpuRequest {
    type Err = GpuKeyError;

    /// Reads a key. After vendor and model come pairs of name and value; unknown names are ignored
    /// and the last of equal names counts, as in the Go provider.
    fn from_str(key: &str) -> Result<Self, Self::Err> {
        let error = |problem| GpuKeyError { key: shortened(key), problem };
        let mut parts = key.split('/');
        let mut next = || parts.next().ok_or(error(GpuKeyProblem::Form));
        let (vendor_label, vendor, model_label, model) = (next()?, next()?, next()?, next()?);
        if (vendor_label, model_label) != ("vendor", "model") || model.is_empty() {
            return Err(error(GpuKeyProblem::Form));
        }
        let vendor = match vendor {
            "nvidia" => GpuVendor::Nvidia,
            "amd" => GpuVendor::Amd,
            _ => return Err(error(GpuKeyProblem::Vendor)),
        };
        let model = match model {
            "*" => GpuModel::Any,
            _ => GpuModel::Named(model.to_owned()),
        };
        let (mut ram_gib, mut interface) = (None, None);
        while let Some(name) = parts.next() {
            let value = parts.next().ok_or(error(GpuKeyProblem::Form))?;
            match (name, value) {
                ("ram", _) => {
                    ram_gib = Some(whole_gib(value).ok_or(error(GpuKeyProblem::Ram))?);
                }
                ("interface", "pcie") => interface = Some(GpuInterface::Pcie),
                ("interface", "sxm") => interface = Some(GpuInterface::Sxm),
                ("interface", _) => return Err(error(GpuKeyProblem::Interface)),
                _ => {}
            }
        }
        Ok(Self { vendor, model, ram_gib, interface })
    }
}

impl fmt::Display for GpuRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = match &self.model {
            GpuModel::Any => "*",
            GpuModel::Named(name) => name,
        };
        write!(f, "vendor/{}/model/{model}", self.vendor.as_str())?;
        if let Some(gib) = self.ram_gib {
            write!(f, "/ram/{gib}Gi")?;
        }
        if let Some(interface) = self.interface {
            write!(f, "/interface/{}", interface.as_str())?;
        }
        Ok(())
    }
}

/// Reads `80Gi`, `81920Mi` or `79.5Gi` and rounds down to whole GiB. Only binary suffixes count.
fn whole_gib(text: &str) -> Option<u64> {
    let (number, suffix) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let bits = match suffix {
        "Ki" => 10,
        "Mi" => 20,
        "Gi" => 30,
        "Ti" => 40,
        "Pi" => 50,
        "Ei" => 60,
        _ => return None,
    };
    let (whole, places) = match number.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, places)) => (whole, places),
        None => (number, ""),
    };
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(places) {
        return None;
    }
    // A byte is 10^-19 EiB: places beyond that never reach a whole GiB.
    let places = places.get(..places.len().min(19))?;
    let scale = 10_u128.checked_pow(u32::try_from(places.len()).ok()?)?;
    let fraction = if places.is_empty() { 0 } else { places.parse::<u128>().ok()? };
    let bytes = whole
        .parse::<u128>()
        .ok()?
        .checked_mul(1 << bits)?
        .checked_add(fraction.checked_mul(1 << bits)? / scale)?;
    u64::try_from(bytes).ok().map(|bytes| bytes >> 30)
}

/// Why a key is not that of a GPU attribute.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("GPU attribute key {key:?}: {problem}")]
pub struct GpuKeyError {
    /// The key, shortened.
    pub key: String,
    /// What is wrong with it.
    pub problem: GpuKeyProblem,
}

/// What can be wrong with the key of a GPU attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GpuKeyProblem {
    /// Not vendor, model and pairs.
    #[error("must have the form vendor/<v>/model/<m>[/ram/<n>Gi][/interface/<pcie|sxm>]")]
    Form,
    /// A vendor nobody knows.
    #[error("the vendor must be nvidia or amd")]
    Vendor,
    /// Not an amount of memory.
    #[error("ram must be a number with one of the suffixes Ki Mi Gi Ti Pi Ei")]
    Ram,
    /// Not a way to attach a card.
    #[error("the interface must be pcie or sxm")]
    Interface,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Attribute;
    use proptest::prelude::*;

    #[test]
    fn keys_written_by_the_sdl_are_understood() {
        for key in [
            "vendor/nvidia/model/*",
            "vendor/nvidia/model/a100",
            "vendor/amd/model/mi300x",
            "vendor/nvidia/model/a100/ram/80Gi",
            "vendor/nvidia/model/a100/interface/sxm",
            "vendor/nvidia/model/a100/ram/80Gi/interface/pcie",
        ] {
            assert_eq!(key.parse::<GpuRequest>().unwrap().to_string(), key);
        }
        let request: GpuRequest =
            "vendor/nvidia/model/h100/ram/80Gi/interface/sxm".parse().unwrap();
        assert_eq!(request.vendor, GpuVendor::Nvidia);
        assert_eq!(request.model, GpuModel::Named("h100".to_owned()));
        assert_eq!((request.ram_gib, request.interface), (Some(80), Some(GpuInterface::Sxm)));
    }

    #[test]
    fn memory_is_rounded_down_to_whole_gib() {
        for (text, gib) in [
            ("80Gi", Some(80)),
            ("81920Mi", Some(80)),
            ("81919Mi", Some(79)),
            ("79.5Gi", Some(79)),
            ("0.5Ti", Some(512)),
            ("512Mi", Some(0)),
            ("83886080Ki", Some(80)),
            ("1Pi", Some(1 << 20)),
            ("15Ei", Some(15 << 30)),
            ("16Ei", None),
            ("80G", None),
            ("80", None),
            ("80i", None),
            ("Gi", None),
            (".5Gi", None),
            ("5.Gi", None),
            ("+5Gi", None),
            ("-5Gi", None),
            ("1e3Gi", None),
            ("8🦀", None),
            ("", None),
        ] {
            assert_eq!(whole_gib(text), gib, "{text}");
        }
    }

    #[test]
    fn pairs_after_the_model_are_read_as_in_go() {
        for (key, same_as) in [
            ("vendor/nvidia/model/a100/color/red", "vendor/nvidia/model/a100"),
            ("vendor/nvidia/model/a100/ram/40Gi/ram/80Gi", "vendor/nvidia/model/a100/ram/80Gi"),
            (
                "vendor/nvidia/model/a100/interface/sxm/ram/80Gi",
                "vendor/nvidia/model/a100/ram/80Gi/interface/sxm",
            ),
        ] {
            assert_eq!(key.parse::<GpuRequest>(), same_as.parse());
        }
    }

    #[test]
    fn other_keys_are_refused() {
        use GpuKeyProblem::{Form, Interface, Ram, Vendor};
        for (key, problem) in [
            ("", Form),
            ("vendor/nvidia", Form),
            ("vendor/nvidia/model", Form),
            ("vendor/nvidia/model/", Form),
            ("vendor/nvidia/type/a100", Form),
            ("model/a100/vendor/nvidia", Form),
            ("vendor/nvidia/model/a100/ram", Form),
            ("vendor/intel/model/*", Vendor),
            ("vendor/Nvidia/model/*", Vendor),
            ("vendor/nvidia/model/a100/ram/80", Ram),
            ("vendor/nvidia/model/a100/interface/SXM5", Interface),
        ] {
            assert_eq!(key.parse::<GpuRequest>().unwrap_err().problem, problem, "{key}");
        }
        let attributes =
            vec![Attribute::new("vendor/nvidia/model/a100", "true"), Attribute::new("x", "y")];
        let error = Gpu { units: 1, attributes }.requests().unwrap_err();
        assert!(error.to_string().starts_with("GPU attribute key \"x\": must have the form"));
    }

    proptest! {
        #[test]
        fn no_key_panics(key in "(vendor/nvidia/model/a/(ram|interface)/)?.{0,40}", ram in "[0-9.]{0,60}[KMGTPE]i") {
            let _ = key.parse::<GpuRequest>();
            let _ = whole_gib(&ram);
        }
    }
}
