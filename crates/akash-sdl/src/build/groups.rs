//! Deployment groups and manifest groups, built side by side.

use akash_types::{
    Attribute, Cpu, DecCoin, Gpu, GroupSpec, Memory, PlacementRequirements, ResourceUnit,
    Resources, SignedBy, Storage,
};

use super::expose::{SequenceNumbers, endpoints, exposes, owned};
use super::order;
use crate::document::{self, Document, Grammar, Placed, Placement, Reader, Service, Spot};
use crate::manifest::{
    self, ImageCredentials, KbsParams, Manifest, ServiceParams, ServicePermissions,
    ServiceResources, StorageParams, TeeParams,
};
use crate::problem::{Path, Shown};

/// What an SDL becomes.
#[derive(Debug)]
pub(crate) struct Built<'d> {
    pub(crate) groups: Vec<GroupSpec>,
    pub(crate) manifest: Manifest,
    /// For each group and unit: which profile it came from, so that what is wrong with it can be
    /// shown where it was written.
    pub(crate) origins: Vec<Vec<Origin<'d>>>,
}

/// Where a resource unit came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'d> {
    pub(crate) service: &'d str,
    pub(crate) profile: &'d str,
    pub(crate) count: Spot<u32>,
}

/// A group while services are added to it.
struct Builder<'d> {
    name: &'d str,
    requirements: PlacementRequirements,
    units: Vec<ResourceUnit>,
    origins: Vec<Origin<'d>>,
    services: Vec<manifest::Service>,
    tee: &'d str,
}

/// Builds groups and manifest. Services whose references lead nowhere are left out: they have
/// been reported, and nothing built is used then.
pub(crate) fn build<'d>(reader: &mut Reader<'d, '_>, document: &Document<'d>) -> Built<'d> {
    let numbers = SequenceNumbers::of(document);
    let mut builders: Vec<Builder<'d>> = Vec::new();
    for (name, placements) in document.deployment.iter() {
        let Some(service) = document.services.get(name.value) else { continue };
        let exposes = exposes(reader, service, &numbers);
        for (place_name, placed) in placements.iter() {
            let (Some(placement), Some(compute)) = (
                document.placement.get(place_name.value),
                document.compute.get(placed.profile.value),
            ) else {
                continue;
            };
            let price =
                placement.pricing.get(placed.profile.value).and_then(|price| price.coin.clone());
            let (Some(price), Some(resources)) = (price, &compute.resources) else { continue };
            let index = builders.iter().position(|builder| builder.name == place_name.value);
            let builder = match index {
                Some(index) => builders.get_mut(index),
                None => {
                    builders.push(Builder::new(place_name.value, placement));
                    builders.last_mut()
                }
            };
            let Some(builder) = builder else { continue };
            builder.require_tee(reader, service, resources);
            builder.add(document.grammar, service, placed, resources, price, exposes.clone());
        }
    }
    builders.sort_by_key(|builder| builder.name);
    finish(builders)
}

fn finish(builders: Vec<Builder<'_>>) -> Built<'_> {
    let mut built = Built {
        groups: Vec::with_capacity(builders.len()),
        manifest: Manifest { groups: Vec::with_capacity(builders.len()) },
        origins: Vec::with_capacity(builders.len()),
    };
    for builder in builders {
        built.groups.push(GroupSpec {
            name: builder.name.to_owned(),
            requirements: builder.requirements,
            resources: builder.units,
        });
        // Services come in the order of their names already.
        built
            .manifest
            .groups
            .push(manifest::Group { name: builder.name.to_owned(), services: builder.services });
        built.origins.push(builder.origins);
    }
    built
}

impl<'d> Builder<'d> {
    fn new(name: &'d str, placement: &Placement<'d>) -> Self {
        let signers = |list: &Option<Vec<Spot<&str>>>| list.as_deref().map(owned);
        Self {
            name,
            requirements: PlacementRequirements {
                signed_by: SignedBy {
                    all_of: signers(&placement.all_of),
                    any_of: signers(&placement.any_of),
                },
                attributes: placement.attributes.clone(),
                verification: placement.verification.clone(),
            },
            units: Vec::new(),
            origins: Vec::new(),
            services: Vec::new(),
            tee: "",
        }
    }

    /// A service that wants confidential computing makes its whole group require it.
    fn require_tee(
        &mut self,
        reader: &mut Reader<'_, '_>,
        service: &Service<'d>,
        resources: &document::Resources<'_>,
    ) {
        let Some(tee) = service.params.as_ref().map(|params| params.tee) else { return };
        if tee.value.is_empty() {
            return;
        }
        let services = Path::ROOT.key("services");
        let name = services.key(service.name.value);
        let params = name.key("params");
        let path = params.key("tee");
        if !matches!(tee.value, "cpu" | "cpu-gpu") {
            let message = format!("unsupported tee type {}", Shown(tee.value));
            reader.problem_allowing(path, tee.place, message, "cpu or cpu-gpu");
            return;
        }
        let has_gpu = resources.gpu.as_ref().is_some_and(|gpu| gpu.units.value > 0);
        if tee.value == "cpu-gpu" && !has_gpu {
            reader.problem_allowing(
                path,
                tee.place,
                "tee type requires gpu resources",
                "tee: cpu, or a profile with gpu units",
            );
        }
        if self.tee.is_empty() {
            self.tee = tee.value;
            self.requirements.attributes.push(Attribute::new("tee/type", tee.value));
            order::sort(&mut self.requirements.attributes, |a, b| a.key < b.key);
        } else if self.tee != tee.value {
            let message = format!(
                "conflicting tee types in the same placement group: {} and {}",
                Shown(self.tee),
                Shown(tee.value)
            );
            reader.problem(path, tee.place, message);
        }
    }

    fn add(
        &mut self,
        grammar: Grammar,
        service: &Service<'d>,
        placed: &Placed<'d>,
        resources: &document::Resources<'_>,
        price: DecCoin,
        exposes: Vec<manifest::ServiceExpose>,
    ) {
        let endpoints = endpoints(&exposes);
        let origin = Origin {
            service: service.name.value,
            profile: placed.profile.value,
            count: placed.count,
        };
        let shared = match grammar {
            Grammar::V2_0 => None,
            Grammar::V2_1 => self.origins.iter().position(|other| other.profile == origin.profile),
        };
        let interconnect_group =
            resources.gpu.as_ref().map_or("", document::Gpu::interconnect_group).to_owned();
        let mut own = resources.to_types();
        own.endpoints.clone_from(&endpoints);
        match shared.and_then(|index| self.units.get_mut(index)) {
            Some(unit) => {
                own.id = unit.resources.id;
                unit.count = unit.count.saturating_add(placed.count.value);
                unit.resources.endpoints.extend(endpoints);
                order::sort(&mut unit.resources.endpoints, |a, b| {
                    a.sequence_number < b.sequence_number
                });
            }
            None => {
                own.id = u32::try_from(self.units.len() + 1).unwrap_or(u32::MAX);
                self.units.push(ResourceUnit {
                    resources: own.clone(),
                    count: placed.count.value,
                    price,
                });
                self.origins.push(origin);
            }
        }
        self.services.push(manifest::Service {
            name: service.name.value.to_owned(),
            image: service.image.value.to_owned(),
            command: service.command.as_deref().map(owned),
            args: service.args.as_deref().map(owned),
            env: service.env.as_deref().map(owned),
            resources: ServiceResources::from(own),
            count: placed.count.value,
            expose: Some(exposes),
            params: service.params.as_ref().map(document::Params::to_manifest),
            credentials: service
                .credentials
                .as_ref()
                .map(|credentials| credentials.to_manifest(grammar)),
            interconnect_group,
        });
    }
}

impl document::Resources<'_> {
    /// What is absent is zero here and refused by the group's validation.
    fn to_types(&self) -> Resources {
        Resources {
            id: 0,
            cpu: self.cpu.as_ref().map_or_else(
                || Cpu { units: 0, attributes: Vec::new() },
                |cpu| Cpu { units: cpu.units.value, attributes: cpu.attributes.clone() },
            ),
            memory: Memory {
                quantity: self.memory.map_or(0, |memory| memory.value),
                attributes: Vec::new(),
            },
            storage: self
                .storage
                .iter()
                .map(|volume| Storage {
                    name: volume.name.to_owned(),
                    quantity: volume.size.value,
                    attributes: volume.attributes.clone(),
                })
                .collect(),
            gpu: self.gpu.as_ref().map_or_else(
                || Gpu { units: 0, attributes: Vec::new() },
                |gpu| Gpu { units: gpu.units.value, attributes: gpu.attributes.clone() },
            ),
            endpoints: Vec::new(),
        }
    }
}

impl From<Resources> for ServiceResources {
    fn from(resources: Resources) -> Self {
        Self {
            id: resources.id,
            cpu: Some(resources.cpu),
            memory: Some(resources.memory),
            storage: Some(resources.storage),
            gpu: Some(resources.gpu),
            endpoints: Some(resources.endpoints),
        }
    }
}

impl document::Params<'_> {
    fn to_manifest(&self) -> ServiceParams {
        let storage: Vec<StorageParams> = self
            .storage
            .iter()
            .map(|(name, params)| StorageParams {
                name: name.value.to_owned(),
                mount: params.mount.value.to_owned(),
                read_only: params.read_only,
                key_ref: params.key_ref.value.trim().to_owned(),
            })
            .collect();
        ServiceParams {
            storage: (!storage.is_empty()).then_some(storage),
            credentials: None,
            permissions: self
                .permissions
                .as_deref()
                .map(|read| ServicePermissions { read: owned(read) }),
            tee: (!self.tee.value.is_empty()).then(|| TeeParams {
                kind: self.tee.value.to_owned(),
                attestation: true,
                kbs: self.kbs.as_ref().map(document::Kbs::to_manifest),
            }),
        }
    }
}

impl document::Kbs<'_> {
    fn to_manifest(&self) -> KbsParams {
        match self.mode {
            "tenant" => KbsParams::Tenant {
                url: self.url.to_owned(),
                certificate: self.certificate.to_owned(),
                image_security_policy_uri: self.image_security_policy_uri.to_owned(),
                agent_policy: self.agent_policy.to_owned(),
            },
            _ => KbsParams::Provider,
        }
    }
}

impl document::Credentials<'_> {
    /// The older grammar drops the address and keeps blanks; the newer one trims.
    fn to_manifest(&self, grammar: Grammar) -> ImageCredentials {
        let text = |text: &str| match grammar {
            Grammar::V2_0 => text.to_owned(),
            Grammar::V2_1 => text.trim().to_owned(),
        };
        ImageCredentials {
            host: text(self.host),
            email: if grammar == Grammar::V2_0 { String::new() } else { text(self.email) },
            username: text(self.username),
            password: text(self.password),
            uri: text(self.uri),
        }
    }
}
