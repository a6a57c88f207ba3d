//! Messages that register a provider.

use akash_proto::akash::provider::v1beta4 as wire;
use akash_types::{Attribute, Provider, attribute};
use http::Uri;
use http::uri::Scheme;

use super::{HostUriProblem, Message, MessageError};

/// Registers a provider. Sent by it.
pub fn create_provider(provider: Provider) -> Result<Message, MessageError> {
    check(&provider)?;
    let message = wire::MsgCreateProvider {
        owner: provider.owner.to_string(),
        host_uri: provider.host_uri,
        attributes: wire_attributes(provider.attributes),
        info: Some(wire::Info { email: provider.email, website: provider.website }),
    };
    Ok(Message::new(provider.owner, &message))
}

/// Replaces what is registered of a provider. Sent by it.
pub fn update_provider(provider: Provider) -> Result<Message, MessageError> {
    check(&provider)?;
    let message = wire::MsgUpdateProvider {
        owner: provider.owner.to_string(),
        host_uri: provider.host_uri,
        attributes: wire_attributes(provider.attributes),
        info: Some(wire::Info { email: provider.email, website: provider.website }),
    };
    Ok(Message::new(provider.owner, &message))
}

fn wire_attributes(
    attributes: Vec<Attribute>,
) -> Vec<akash_proto::akash::base::attributes::v1::Attribute> {
    attributes.into_iter().map(Into::into).collect()
}

fn check(provider: &Provider) -> Result<(), MessageError> {
    let uri = &provider.host_uri;
    check_host(uri).map_err(|problem| MessageError::HostUri { uri: uri.clone(), problem })?;
    attribute::validate_provider(&provider.attributes)?;
    check_website(&provider.website)
}

/// `https`, a host, perhaps a port, and nothing after it. The chain takes user info and a query
/// too, which no client of a provider knows what to do with.
fn check_host(text: &str) -> Result<(), HostUriProblem> {
    let (_, rest) = text.split_once("://").ok_or(HostUriProblem::NotAbsolute)?;
    if rest.is_empty() {
        return Err(HostUriProblem::NoHost);
    }
    let uri: Uri = text.parse().map_err(|_| HostUriProblem::NotAbsolute)?;
    if uri.scheme() != Some(&Scheme::HTTPS) {
        return Err(HostUriProblem::NotHttps);
    }
    let authority = uri.authority().ok_or(HostUriProblem::NoHost)?;
    if authority.host().is_empty() {
        return Err(HostUriProblem::NoHost);
    }
    let port = authority.as_str() == authority.host() || authority.port_u16().is_some();
    if rest != authority.as_str() || rest.contains('@') || !port {
        return Err(HostUriProblem::NotBare);
    }
    Ok(())
}

/// Go parses nearly anything as a URL; what it does not is refused here too.
fn check_website(text: &str) -> Result<(), MessageError> {
    let host = text.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let odd = text.chars().any(|c| c.is_ascii_control()) || host.contains(' ');
    match odd || text.starts_with(':') {
        true => Err(MessageError::Website { text: text.to_owned() }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_https_and_bare() {
        for good in ["https://a", "https://a.b:8443", "https://127.0.0.1:8443", "https://[::1]:1"] {
            assert_eq!(check_host(good), Ok(()), "{good}");
        }
        for (bad, problem) in [
            ("", HostUriProblem::NotAbsolute),
            ("provider.example.com", HostUriProblem::NotAbsolute),
            ("https:", HostUriProblem::NotAbsolute),
            ("https://", HostUriProblem::NoHost),
            ("https:// a", HostUriProblem::NotAbsolute),
            ("http://a", HostUriProblem::NotHttps),
            ("tcp://a:1", HostUriProblem::NotHttps),
            ("https://a/", HostUriProblem::NotBare),
            ("https://a/b", HostUriProblem::NotBare),
            ("https://a?b", HostUriProblem::NotBare),
            ("https://a#b", HostUriProblem::NotBare),
            ("https://u@a", HostUriProblem::NotBare),
            ("https://a:99999", HostUriProblem::NotBare),
        ] {
            assert_eq!(check_host(bad), Err(problem), "{bad}");
        }
    }

    #[test]
    fn websites_are_taken_as_go_takes_them() {
        for good in ["", "example.com", "https://example.com/a b", "mailto:x@y"] {
            assert_eq!(check_website(good), Ok(()), "{good}");
        }
        for bad in ["https://exa mple.com", "a\nb", ":x", "\u{7f}"] {
            assert!(check_website(bad).is_err(), "{bad}");
        }
    }
}
