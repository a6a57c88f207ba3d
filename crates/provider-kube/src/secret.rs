//! One entry of a Secret, for what the provider keeps for itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kube_access::{Failure, KubeClient, ResourceKind};
use serde_json::{Value, json};

/// How often a write is tried that meets another one.
const TRIES: usize = 3;

/// One entry of a Secret. Other entries of it are left alone.
#[derive(Clone, Debug)]
pub struct SecretEntry {
    client: KubeClient,
    namespace: String,
    name: String,
    key: String,
}

impl SecretEntry {
    /// The entry `key` of the Secret `name`, which need not be there.
    pub const fn new(client: KubeClient, namespace: String, name: String, key: String) -> Self {
        Self { client, namespace, name, key }
    }

    /// What is in it; `None` if there is no such entry.
    pub async fn read(&self) -> Result<Option<Vec<u8>>, Failure> {
        let secret =
            self.client.get(ResourceKind::SECRET, Some(&self.namespace), &self.name).await?;
        Ok(secret.as_ref().and_then(|secret| entry(secret, &self.key)))
    }

    /// Puts something into it, and makes the Secret where there is none.
    pub async fn write(&self, content: &[u8]) -> Result<(), Failure> {
        let namespace = Some(self.namespace.as_str());
        let mut tries = 0;
        loop {
            let there = self.client.get(ResourceKind::SECRET, namespace, &self.name).await?;
            let written = match there {
                Some(secret) => {
                    let secret = with_entry(secret, &self.key, content);
                    self.client.replace(ResourceKind::SECRET, namespace, &self.name, &secret).await
                }
                None => {
                    let secret = json!({
                        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                        "metadata": {"name": self.name, "namespace": self.namespace},
                    });
                    let secret = with_entry(secret, &self.key, content);
                    self.client.create(ResourceKind::SECRET, namespace, &secret).await
                }
            };
            tries += 1;
            match written {
                // Somebody else wrote meanwhile: what they wrote stays, beside this.
                Err(Failure::Conflict(_)) if tries < TRIES => {}
                other => return other.map(drop),
            }
        }
    }
}

/// What an entry holds. One that is no base64 holds nothing that we wrote.
fn entry(secret: &Value, key: &str) -> Option<Vec<u8>> {
    let text = secret.get("data")?.get(key)?.as_str()?;
    STANDARD.decode(text).ok()
}

fn with_entry(mut secret: Value, key: &str, content: &[u8]) -> Value {
    if let Some(secret) = secret.as_object_mut() {
        let data = secret.entry("data").or_insert_with(|| json!({}));
        if !data.is_object() {
            *data = json!({});
        }
        if let Some(data) = data.as_object_mut() {
            data.insert(key.to_owned(), STANDARD.encode(content).into());
        }
    }
    secret
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_reads_as_it_was_written_and_others_stay() {
        let secret = json!({"data": {"other": "eA=="}});
        let secret = with_entry(secret, "a.pem", b"text");
        assert_eq!(entry(&secret, "a.pem").as_deref(), Some(&b"text"[..]));
        assert_eq!(entry(&secret, "other").as_deref(), Some(&b"x"[..]));
        assert_eq!(entry(&with_entry(json!({}), "a", b""), "a").as_deref(), Some(&b""[..]));
    }

    #[test]
    fn what_is_no_entry_is_none() {
        for secret in [json!({}), json!({"data": null}), json!({"data": {"a": "%"}}), json!([])] {
            assert_eq!(entry(&secret, "a"), None, "{secret}");
        }
    }
}
