//! What one replica of a service asks for: CPU, memory, GPU, volumes, endpoints. Exact integers.
//!
//! Plain data: whether the amounts are acceptable is `group_validation`, whether somebody has them
//! is inventory's business.

use std::str::FromStr;

use crate::attribute::{self, Attribute};
use crate::causes::shortened;

/// Processor time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Thousandths of a core.
    pub units: u64,
    /// Constraints on the processor; only `arch` is known, see [`Cpu::arch`].
    pub attributes: Vec<Attribute>,
}

impl Cpu {
    /// Key of the attribute that names the architecture.
    pub const ARCH: &'static str = "arch";

    /// The architecture that is asked for: amd64 where no attribute names one.
    pub fn arch(&self) -> Result<CpuArch, UnknownArch> {
        self.named_arch().map(Option::unwrap_or_default)
    }

    /// The architecture that is asked for, if one is named.
    pub fn named_arch(&self) -> Result<Option<CpuArch>, UnknownArch> {
        attribute::find(&self.attributes, Self::ARCH).map(str::parse).transpose()
    }
}

/// Processor architectures that an order can ask for, named as Go and Kubernetes name them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display,
)]
#[display("{}", self.as_str())]
pub enum CpuArch {
    /// 64-bit x86.
    #[default]
    Amd64,
    /// 64-bit Arm.
    Arm64,
}

impl CpuArch {
    /// Name in attributes and in the node label `kubernetes.io/arch`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }
}

impl FromStr for CpuArch {
    type Err = UnknownArch;

    fn from_str(text: &str) -> Result<Self, UnknownArch> {
        match text {
            "amd64" => Ok(Self::Amd64),
            "arm64" => Ok(Self::Arm64),
            _ => Err(UnknownArch(shortened(text))),
        }
    }
}

/// A text that names no architecture that an order can ask for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unsupported cpu architecture {0:?}")]
pub struct UnknownArch(String);

/// Graphics processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// Whole cards.
    pub units: u64,
    /// Acceptable cards, one key each; see [`crate::GpuRequest`].
    pub attributes: Vec<Attribute>,
}

/// Main memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes.
    pub quantity: u64,
    /// Constraints on the memory; none are known today.
    pub attributes: Vec<Attribute>,
}

/// One volume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    /// Name within the unit.
    pub name: String,
    /// Bytes.
    pub quantity: u64,
    /// `persistent` and `class`; empty for plain ephemeral space.
    pub attributes: Vec<Attribute>,
}

impl Storage {
    /// Class of a volume that is memory behind a mount.
    pub const RAM_CLASS: &'static str = "ram";

    /// Whether the volume outlives its container.
    ///
    /// The value is read as Go's `ParseBool` does, since tenants may write the chain directly;
    /// anything else is no.
    pub fn is_persistent(&self) -> bool {
        let value = attribute::find(&self.attributes, "persistent");
        matches!(value, Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
    }

    /// Storage class that was asked for, if one was.
    pub fn class(&self) -> Option<&str> {
        attribute::find(&self.attributes, "class").filter(|class| !class.is_empty())
    }

    /// Whether the volume is memory: not persistent, class `ram`.
    pub fn is_ram(&self) -> bool {
        !self.is_persistent() && self.class() == Some(Self::RAM_CLASS)
    }
}

/// How an endpoint is reached. Numbers as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndpointKind {
    /// By host name through the shared ingress.
    #[default]
    SharedHttp = 0,
    /// By a port chosen by the provider.
    RandomPort = 1,
    /// By an address leased to the tenant.
    LeasedIp = 2,
}

impl EndpointKind {
    /// Every kind, in wire order.
    pub const ALL: [Self; 3] = [Self::SharedHttp, Self::RandomPort, Self::LeasedIp];

    /// Number on the wire.
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The kind with this number on the wire, if there is one.
    pub const fn from_code(code: i32) -> Option<Self> {
        match code {
            0 => Some(Self::SharedHttp),
            1 => Some(Self::RandomPort),
            2 => Some(Self::LeasedIp),
            _ => None,
        }
    }
}

/// One way into a service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// How it is reached.
    pub kind: EndpointKind,
    /// Endpoints with the same number share one leased address; 0 when there is none.
    pub sequence_number: u32,
}

/// Everything one replica asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Number by which manifest and offers refer to this; unique in its group, from 1.
    pub id: u32,
    /// Processor time.
    pub cpu: Cpu,
    /// Main memory.
    pub memory: Memory,
    /// Volumes, in manifest order.
    pub storage: Vec<Storage>,
    /// Graphics processors.
    pub gpu: Gpu,
    /// Endpoints of all its services.
    pub endpoints: Vec<Endpoint>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(pairs: &[(&str, &str)]) -> Storage {
        let attributes = pairs.iter().map(|(key, value)| Attribute::new(*key, *value)).collect();
        Storage { attributes, ..Storage::default() }
    }

    #[test]
    fn volumes_say_what_they_are() {
        for (pairs, persistent, class, ram) in [
            (&[][..], false, None, false),
            (&[("persistent", "false"), ("class", "ram")], false, Some("ram"), true),
            (&[("class", "ram")], false, Some("ram"), true),
            (&[("class", "ram"), ("persistent", "true")], true, Some("ram"), false),
            (&[("class", "beta2"), ("persistent", "true")], true, Some("beta2"), false),
            (&[("persistent", "1"), ("class", "")], true, None, false),
            (&[("persistent", "yes")], false, None, false),
        ] {
            let volume = volume(pairs);
            assert_eq!(volume.is_persistent(), persistent, "{pairs:?}");
            assert_eq!(volume.class(), class, "{pairs:?}");
            assert_eq!(volume.is_ram(), ram, "{pairs:?}");
        }
    }

    #[test]
    fn without_an_attribute_the_architecture_is_amd64() {
        let asks = |pairs: &[(&str, &str)]| {
            let attributes =
                pairs.iter().map(|(key, value)| Attribute::new(*key, *value)).collect();
            Cpu { units: 1, attributes }.arch()
        };
        assert_eq!(asks(&[]), Ok(CpuArch::Amd64));
        assert_eq!(asks(&[("other", "arm64")]), Ok(CpuArch::Amd64));
        assert_eq!(asks(&[("arch", "amd64")]), Ok(CpuArch::Amd64));
        assert_eq!(asks(&[("arch", "arm64")]), Ok(CpuArch::Arm64));
        for unknown in ["", "ARM64", "x86_64", "riscv64"] {
            let error = asks(&[("arch", unknown)]).unwrap_err();
            assert_eq!(error.to_string(), format!("unsupported cpu architecture {unknown:?}"));
        }
    }

    #[test]
    fn endpoint_kinds_keep_their_numbers() {
        for (code, kind) in (0..).zip(EndpointKind::ALL) {
            assert_eq!(kind.code(), code);
            assert_eq!(EndpointKind::from_code(code), Some(kind));
        }
        assert_eq!(EndpointKind::from_code(3), None);
        assert_eq!(EndpointKind::from_code(-1), None);
    }
}
