//! One item of a keyring, as the JSON that github.com/99designs/keyring encrypts.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Go decodes fields that are missing as empty, and ignores those it does not know.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Item<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    /// Base64; `null` is how Go writes no bytes at all.
    #[serde(borrow)]
    data: Option<Cow<'a, str>>,
    #[serde(default)]
    label: Cow<'a, str>,
    #[serde(default)]
    description: Cow<'a, str>,
    #[serde(default)]
    keychain_not_trust_application: bool,
    #[serde(default)]
    keychain_not_synchronizable: bool,
}

pub(super) fn encode(key: &str, data: &[u8]) -> Result<Zeroizing<Vec<u8>>, serde_json::Error> {
    let base64 = Zeroizing::new(STANDARD.encode(data));
    let item = Item {
        key: key.into(),
        data: Some(base64.as_str().into()),
        label: "".into(),
        description: "".into(),
        keychain_not_trust_application: false,
        keychain_not_synchronizable: false,
    };
    // Room for all of it, so that no copy is left behind by growing: six for an escaped byte.
    let mut json = Zeroizing::new(Vec::with_capacity(base64.len() + 6 * key.len() + 200));
    serde_json::to_writer(&mut *json, &item)?;
    Ok(json)
}

/// The data of an item's JSON; `None` when it is not such a thing.
pub(super) fn decode(json: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let item: Item<'_> = serde_json::from_slice(json).ok()?;
    STANDARD.decode(item.data.unwrap_or_default().as_bytes()).ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_is_what_go_writes() {
        let json = encode("a\"b.info", &[1, 2, 3]).unwrap();
        assert_eq!(
            std::str::from_utf8(&json).unwrap(),
            r#"{"Key":"a\"b.info","Data":"AQID","Label":"","Description":"","KeychainNotTrustApplication":false,"KeychainNotSynchronizable":false}"#
        );
        assert_eq!(decode(&json).unwrap().as_slice(), [1, 2, 3]);
    }

    #[test]
    fn fields_may_be_missing_or_unknown_but_data_is_base64() {
        let data = |json: &str| decode(json.as_bytes()).map(|data| data.to_vec());
        assert_eq!(data(r#"{"Key":"","Data":"AQ=="}"#), Some(vec![1]));
        assert_eq!(data(r#"{"Key":"","Data":null,"New":[]}"#), Some(vec![]));
        assert_eq!(data(r#"{"Key":"","Data":"!"}"#), None);
        assert_eq!(data(r#"{"Key":"","Data":7}"#), None);
        assert_eq!(data("[]"), None);
        assert_eq!(data(""), None);
    }
}
