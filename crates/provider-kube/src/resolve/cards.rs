//! Cards, as they are promised and as they are kept.

use akash_types::{Gpu, GpuInterface, GpuModel, GpuRequest, GpuVendor};
use provider_crd::manifest::{SchedulerGpu, SchedulerParams, SchedulerResources};
use provider_engine::cluster::view::CardChoice;

/// The runtime class under which NVIDIA cards are seen.
const NVIDIA_RUNTIME: &str = "nvidia";

/// What is kept of a promise.
///
/// Memory and interface are left empty although they were promised: the Go provider never pins
/// them, and live templates are without. They can be read again from what the tenant asked for.
pub(super) fn promise(card: &CardChoice) -> SchedulerParams {
    let runtime_class = match card.vendor {
        GpuVendor::Nvidia => NVIDIA_RUNTIME,
        GpuVendor::Amd => "",
    };
    let gpu = SchedulerGpu {
        vendor: card.vendor.as_str().to_owned(),
        model: card.model.to_string(),
        ..SchedulerGpu::default()
    };
    SchedulerParams {
        runtime_class: runtime_class.to_owned(),
        resources: Some(SchedulerResources { gpu: Some(gpu), ..SchedulerResources::default() }),
        ..SchedulerParams::default()
    }
}

/// The promise that is kept for a service which asks for `gpu`; `None` if there is none, or none
/// that is understood.
pub(super) fn promised(kept: &SchedulerParams, gpu: &Gpu) -> Option<CardChoice> {
    let card = kept.resources.as_ref()?.gpu.as_ref()?;
    let vendor = match card.vendor.as_str() {
        "nvidia" => GpuVendor::Nvidia,
        "amd" => GpuVendor::Amd,
        _ => return None,
    };
    let asked = asked(gpu, vendor, &card.model);
    let interface = match card.interface.as_str() {
        "" => asked.as_ref().and_then(|asked| asked.interface),
        "pcie" => Some(GpuInterface::Pcie),
        kept if kept.starts_with("sxm") => Some(GpuInterface::Sxm),
        _ => None,
    };
    let memory_gib = match card.memory_size.strip_suffix("Gi") {
        Some(kept) => kept.parse().ok(),
        None => asked.and_then(|asked| asked.ram_gib),
    };
    Some(CardChoice { vendor, model: card.model.as_str().into(), memory_gib, interface })
}

/// What the tenant asked for, if only one of the alternatives can have led to this card.
fn asked(gpu: &Gpu, vendor: GpuVendor, model: &str) -> Option<GpuRequest> {
    let fits = |request: &GpuRequest| {
        let named = match &request.model {
            GpuModel::Any => true,
            GpuModel::Named(name) => name == model,
        };
        request.vendor == vendor && named
    };
    let mut fitting = gpu.requests().ok()?.into_iter().filter(fits);
    fitting.next().filter(|_| fitting.next().is_none())
}

#[cfg(test)]
mod tests {
    use akash_types::Attribute;

    use super::*;

    fn asks(keys: &[&str]) -> Gpu {
        let attributes = keys.iter().map(|key| Attribute::new(*key, "true")).collect();
        Gpu { units: 1, attributes }
    }

    fn card(memory_gib: Option<u64>, interface: Option<GpuInterface>) -> CardChoice {
        CardChoice { vendor: GpuVendor::Nvidia, model: "a100".into(), memory_gib, interface }
    }

    #[test]
    fn a_promise_pins_vendor_and_model_only() {
        let kept = promise(&card(Some(80), Some(GpuInterface::Pcie)));
        assert_eq!(kept.runtime_class, "nvidia");
        let gpu = kept.resources.unwrap().gpu.unwrap();
        assert_eq!((gpu.vendor.as_str(), gpu.model.as_str()), ("nvidia", "a100"));
        assert_eq!((gpu.memory_size.as_str(), gpu.interface.as_str()), ("", ""));
        let amd = CardChoice { vendor: GpuVendor::Amd, ..card(None, None) };
        assert_eq!(promise(&amd).runtime_class, "");
    }

    #[test]
    fn what_was_asked_for_completes_what_is_kept() {
        let kept = promise(&card(None, None));
        for (asked, memory, interface) in [
            (&["vendor/nvidia/model/*"][..], None, None),
            (
                &["vendor/nvidia/model/a100/ram/80Gi/interface/pcie"],
                Some(80),
                Some(GpuInterface::Pcie),
            ),
            (&["vendor/nvidia/model/a100/ram/80Gi", "vendor/amd/model/*"], Some(80), None),
            // Two alternatives could have led here: nobody knows which.
            (
                &["vendor/nvidia/model/a100/ram/80Gi", "vendor/nvidia/model/a100/ram/40Gi"],
                None,
                None,
            ),
            (&["nonsense"], None, None),
        ] {
            assert_eq!(promised(&kept, &asks(asked)), Some(card(memory, interface)), "{asked:?}");
        }
    }

    #[test]
    fn what_is_kept_wins_over_what_was_asked_for() {
        let mut kept = promise(&card(None, None));
        let gpu = kept.resources.as_mut().unwrap().gpu.as_mut().unwrap();
        gpu.memory_size = "40Gi".to_owned();
        gpu.interface = "sxm4".to_owned();
        let asked = asks(&["vendor/nvidia/model/a100/ram/80Gi/interface/pcie"]);
        assert_eq!(promised(&kept, &asked), Some(card(Some(40), Some(GpuInterface::Sxm))));
    }

    #[test]
    fn a_vendor_that_is_not_known_is_no_promise() {
        let mut kept = promise(&card(None, None));
        kept.resources.as_mut().unwrap().gpu.as_mut().unwrap().vendor = "intel".to_owned();
        assert_eq!(promised(&kept, &asks(&[])), None);
        assert_eq!(promised(&SchedulerParams::default(), &asks(&[])), None);
    }
}
