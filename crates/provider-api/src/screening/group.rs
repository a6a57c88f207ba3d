//! A group, read from the JSON of the Go structs.

use akash_proto::akash::base::attributes::v1 as attributes;
use akash_proto::akash::base::resources::v1beta4 as resources;
use akash_proto::akash::deployment::v1beta4 as deployment;
use akash_types::{ConvertError, Dec, DecCoin, Denom, GroupSpec};
use serde::Deserialize;

use super::ScreeningRequest;

/// Why a question was not understood.
#[derive(Debug, thiserror::Error)]
pub enum GroupError {
    /// It is no JSON, or of something else.
    #[error("the group cannot be read: {0}; send it as the SDK prints it")]
    Json(#[from] serde_json::Error),
    /// A value makes no sense.
    #[error("the group cannot be understood: {0}")]
    Value(#[from] ConvertError),
    /// A price is none.
    #[error("the group cannot be understood: {amount:?} {denom:?} is no price")]
    Price {
        /// How much.
        amount: String,
        /// Of what.
        denom: String,
    },
}

/// Reads a group, alone or in a request of its own.
/// Fails when it cannot be read. One that can be read need not be valid.
pub fn parse_group(body: &[u8]) -> Result<ScreeningRequest, GroupError> {
    let request: Request = serde_json::from_slice(body)?;
    let (spec, hostnames) = match request {
        Request { group_spec: Some(spec), hostnames, .. } => (spec, hostnames),
        Request { alone, hostnames, .. } => (alone, hostnames),
    };
    Ok(ScreeningRequest {
        group: GroupSpec::try_from(spec.into_wire()?)?,
        hostnames: hostnames.unwrap_or_default(),
    })
}

#[derive(Deserialize)]
struct Request {
    group_spec: Option<Group>,
    hostnames: Option<Vec<String>>,
    #[serde(flatten)]
    alone: Group,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Group {
    name: String,
    requirements: Option<Requirements>,
    resources: Option<Vec<Unit>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Requirements {
    signed_by: Option<SignedBy>,
    attributes: Option<Vec<Attribute>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SignedBy {
    all_of: Option<Vec<String>>,
    any_of: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Attribute {
    key: String,
    value: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Unit {
    resource: Option<Resources>,
    count: u32,
    price: Option<Coin>,
}

#[derive(Deserialize)]
struct Coin {
    denom: String,
    amount: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Resources {
    id: u32,
    cpu: Option<Counted>,
    memory: Option<Sized>,
    storage: Option<Vec<Sized>>,
    gpu: Option<Counted>,
    endpoints: Option<Vec<Endpoint>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counted {
    units: Option<Number>,
    attributes: Option<Vec<Attribute>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Sized {
    name: String,
    #[serde(alias = "quantity")]
    size: Option<Number>,
    attributes: Option<Vec<Attribute>>,
}

#[derive(Deserialize)]
struct Number {
    val: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Endpoint {
    kind: i32,
    sequence_number: u32,
}

impl Group {
    fn into_wire(self) -> Result<deployment::GroupSpec, GroupError> {
        let units = self.resources.unwrap_or_default().into_iter().map(Unit::into_wire);
        Ok(deployment::GroupSpec {
            name: self.name,
            requirements: self.requirements.map(Requirements::into_wire),
            resources: units.collect::<Result<_, _>>()?,
        })
    }
}

impl Requirements {
    fn into_wire(self) -> attributes::PlacementRequirements {
        attributes::PlacementRequirements {
            signed_by: self.signed_by.map(|signed| attributes::SignedBy {
                all_of: signed.all_of.unwrap_or_default(),
                any_of: signed.any_of.unwrap_or_default(),
            }),
            attributes: all(self.attributes, Attribute::into_wire),
            verification: None,
        }
    }
}

impl Attribute {
    fn into_wire(self) -> attributes::Attribute {
        attributes::Attribute { key: self.key, value: self.value }
    }
}

impl Unit {
    fn into_wire(self) -> Result<deployment::ResourceUnit, GroupError> {
        Ok(deployment::ResourceUnit {
            resource: self.resource.map(Resources::into_wire),
            count: self.count,
            price: self.price.map(Coin::read).transpose()?.map(Into::into),
        })
    }
}

impl Coin {
    fn read(self) -> Result<DecCoin, GroupError> {
        let read = || {
            let (denom, amount) = (self.denom.parse::<Denom>(), self.amount.parse::<Dec>());
            DecCoin::new(denom.ok()?, amount.ok()?).ok()
        };
        read().ok_or(GroupError::Price { amount: self.amount, denom: self.denom })
    }
}

impl Resources {
    fn into_wire(self) -> resources::Resources {
        resources::Resources {
            id: self.id,
            cpu: self.cpu.map(|cpu| resources::Cpu {
                units: number(cpu.units),
                attributes: all(cpu.attributes, Attribute::into_wire),
            }),
            memory: self.memory.map(|memory| resources::Memory {
                quantity: number(memory.size),
                attributes: all(memory.attributes, Attribute::into_wire),
            }),
            storage: all(self.storage, |volume| resources::Storage {
                name: volume.name,
                quantity: number(volume.size),
                attributes: all(volume.attributes, Attribute::into_wire),
            }),
            gpu: self.gpu.map(|gpu| resources::Gpu {
                units: number(gpu.units),
                attributes: all(gpu.attributes, Attribute::into_wire),
            }),
            endpoints: all(self.endpoints, |endpoint| resources::Endpoint {
                kind: endpoint.kind,
                sequence_number: endpoint.sequence_number,
            }),
        }
    }
}

fn number(number: Option<Number>) -> Option<resources::ResourceValue> {
    number.map(|number| resources::ResourceValue { val: number.val.into_bytes() })
}

fn all<T, U>(list: Option<Vec<T>>, convert: impl FnMut(T) -> U) -> Vec<U> {
    list.unwrap_or_default().into_iter().map(convert).collect()
}

#[cfg(test)]
mod tests {
    use akash_sdl::{Sdl, groups_to_json};

    use super::*;

    const SDL: &str = "
version: '2.0'
services:
  web:
    image: nginx
    params: {storage: {data: {mount: /data}}}
    expose: [{port: 80, as: 80, to: [{global: true}]}, {port: 22, to: [{global: true}]}]
profiles:
  compute:
    web:
      resources:
        cpu: {units: 0.5}
        memory: {size: 512Mi}
        gpu: {units: 1, attributes: {vendor: {nvidia: [{model: a100}]}}}
        storage:
          - {size: 1Gi}
          - {name: data, size: 2Gi, attributes: {persistent: true, class: beta3}}
  placement:
    west:
      attributes: {region: us-west}
      signedBy: {anyOf: [akash1365yvmc4s7awdyj3n2sav7xfx76adc6dnmlx63]}
      pricing: {web: {denom: uakt, amount: 1000}}
deployment:
  web: {west: {profile: web, count: 2}}
";

    #[test]
    fn what_the_sdk_prints_is_read_back() {
        let sdl = Sdl::read(SDL).unwrap();
        let json = groups_to_json(sdl.groups());
        let one = json.trim_start_matches('[').trim_end_matches(']');
        let read = parse_group(one.as_bytes()).unwrap();
        let normal = |spec: &GroupSpec| deployment::GroupSpec::from(spec.clone());
        assert_eq!(normal(&read.group), normal(&sdl.groups()[0]));

        let wrapped = format!("{{\"group_spec\":{one},\"hostnames\":[\"a.example.com\"]}}");
        let read = parse_group(wrapped.as_bytes()).unwrap();
        assert_eq!(normal(&read.group), normal(&sdl.groups()[0]));
        assert_eq!(read.hostnames, ["a.example.com"]);
    }

    #[test]
    fn what_is_no_group_says_so() {
        for body in
            ["", "[]", "hello", r#"{"resources":[{"price":{"denom":"uakt","amount":"x"}}]}"#]
        {
            let said = parse_group(body.as_bytes()).unwrap_err().to_string();
            assert!(said.starts_with("the group cannot be "), "{said}");
        }
    }
}
