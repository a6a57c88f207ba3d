//! Remembering maintenance.

use kube_access::{Failure, ResourceKind};
use provider_crd::labels;
use serde_json::{Map, Value, json};

use super::write::Writer;
use crate::settings::Settings;
use crate::watch::{MEMORY, parts};

/// Writes into the provider's memory whether it is in maintenance. What else it remembers stays.
pub(super) async fn maintain(
    writer: Writer<'_>,
    settings: &Settings,
    is_on: bool,
) -> Result<(), Failure> {
    let own = settings.manifest_namespace.as_str();
    loop {
        let there = writer.read(ResourceKind::CONFIG_MAP, Some(own), MEMORY).await?;
        let mut memory = there.unwrap_or_else(|| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {
                    "name": MEMORY, "namespace": own, "labels": {(labels::MANAGED): labels::TRUE},
                },
            })
        });
        let text = is_on.to_string();
        if memory.pointer("/data").and_then(|data| data.get(parts::MAINTENANCE)?.as_str())
            == Some(&text)
        {
            return Ok(());
        }
        if let Some(memory) = memory.as_object_mut() {
            let data = memory.entry("data").or_insert_with(|| Map::new().into());
            if let Some(data) = data.as_object_mut() {
                data.insert(parts::MAINTENANCE.to_owned(), Value::from(text));
            }
        }
        match writer.put(ResourceKind::CONFIG_MAP, &memory).await {
            Ok(_) => return Ok(()),
            // Somebody else wrote it: it is read again.
            Err(Failure::Conflict(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
}
