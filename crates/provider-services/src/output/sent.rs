//! What became of a manifest, provider by provider, as the Go program prints it.

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

/// What one provider made of a manifest.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) provider: String,
    /// Why it was not taken.
    pub(crate) error: Option<String>,
    /// What the provider said to that, with the line end that it sent.
    pub(crate) error_message: Option<String>,
}

impl Sent {
    const fn status(&self) -> &'static str {
        if self.error.is_some() { "FAIL" } else { "PASS" }
    }

    /// Names and values, in the order in which they are printed.
    fn fields(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let error = self.error.as_deref().map(|text| ("error", text));
        let message = self.error_message.as_deref().map(|text| ("errorMessage", text));
        [Some(("status", self.status())), error, message].into_iter().flatten()
    }

    pub(crate) fn text(all: &[Self]) -> String {
        let mut text = String::new();
        for sent in all {
            text.push_str(&format!("provider: {}\n", sent.provider));
            for (name, value) in sent.fields() {
                text.push_str(&format!("\t{:<13} {value}\n", format!("{name}:")));
            }
        }
        text
    }

    pub(crate) fn json(all: &[Self]) -> serde_json::Result<String> {
        provider_api::json::to_line(all)
    }

    pub(crate) fn yaml(all: &[Self]) -> String {
        let mut text = String::new();
        for sent in all {
            text.push_str(&format!("- provider: {}\n", sent.provider));
            for (name, value) in sent.fields() {
                text.push_str(&format!("  {name}:{}", akash_json::yaml_value(value, 4)));
            }
        }
        text
    }
}

impl Serialize for Sent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Sent", 1 + self.fields().count())?;
        object.serialize_field("provider", &self.provider)?;
        for (name, value) in self.fields() {
            object.serialize_field(name, value)?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    fn recorded(name: &str) -> String {
        let path = format!(
            "{}/../../fixtures/gateway/cli/send-manifest-{name}.txt",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(path).unwrap();
        let (_, stdout) = text.split_once("--- stdout\n").unwrap();
        stdout.split_once("--- stderr").unwrap().0.to_owned()
    }

    fn one(error: Option<(u16, &str)>) -> Vec<Sent> {
        vec![Sent {
            provider: PROVIDER.to_owned(),
            error: error.map(|(status, _)| format!("remote server returned {status}")),
            error_message: error.map(|(_, body)| body.to_owned()),
        }]
    }

    #[test]
    fn every_form_is_as_the_go_program_printed_it() {
        let good = one(None);
        assert_eq!(Sent::text(&good), recorded("text-jwt"));
        assert_eq!(Sent::json(&good).unwrap(), recorded("json-jwt"));
        assert_eq!(Sent::yaml(&good), recorded("yaml-jwt"));
        let hash = one(Some((422, "manifest version validation failed\n")));
        assert_eq!(Sent::text(&hash), recorded("fail-hash-text"));
        let said = "rpc error: code = NotFound desc = Deployment not found: key not found\n";
        let unknown = one(Some((500, said)));
        assert_eq!(Sent::yaml(&unknown), recorded("fail-unknown-dseq-yaml"));
    }
}
