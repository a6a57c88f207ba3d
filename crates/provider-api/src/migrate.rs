//! Moving hostnames and leased addresses between leases of one tenant.

use serde::{Deserialize, Deserializer, Serialize};

/// What to move where, for `POST /hostname/migrate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MigrateHostnames {
    /// Which hostnames.
    #[serde(deserialize_with = "list")]
    pub hostnames_to_migrate: Vec<String>,
    /// To which deployment of the tenant.
    pub destination_dseq: u64,
    /// To which group of it.
    pub destination_gseq: u32,
}

/// What to move where, for `POST /endpoint/migrate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MigrateEndpoints {
    /// Names of the endpoints.
    #[serde(deserialize_with = "list")]
    pub endpoints_to_migrate: Vec<String>,
    /// To which deployment of the tenant.
    pub destination_dseq: u64,
    /// To which group of it.
    pub destination_gseq: u32,
}

/// What the destination has now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transferred {
    /// Names.
    pub transferred: Vec<String>,
}

/// A list, or `null` for an empty one.
fn list<'de, D: Deserializer<'de>>(decoder: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::deserialize(decoder)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_empty() {
        let read = |text: &str| serde_json::from_str::<MigrateHostnames>(text).unwrap();
        assert_eq!(read("{}"), MigrateHostnames::default());
        assert_eq!(read(r#"{"hostnames_to_migrate":null,"other":1}"#), MigrateHostnames::default());
        let all = r#"{"hostnames_to_migrate":["h"],"destination_dseq":123,"destination_gseq":1}"#;
        let full = MigrateHostnames {
            hostnames_to_migrate: vec!["h".to_owned()],
            destination_dseq: 123,
            destination_gseq: 1,
        };
        assert_eq!(read(all), full);
        assert_eq!(serde_json::to_string(&full).unwrap(), all);
    }
}
