//! What a provider's refusal looks like: the lines of the Go program, and what to do next.

use provider_api::client::ClientError;
use provider_api::error::{DeniedBody, ErrorCode};

use crate::console::Streams;
use crate::output::printable;

/// Statuses that only the layer of authentication answers with, whose body is JSON.
const DENIED: u16 = 401;
const DENIED_TEXTS: [&str; 3] = [
    "invalid authorization header",
    "auth: ambiguous authentication. may not use mTLS and JWT at the same time",
    "JWT has invalid claims",
];

/// Tells what the provider said, and makes the error that the command ends with.
pub(super) fn refused(error: ClientError, streams: &mut Streams<'_>) -> anyhow::Error {
    if let ClientError::Refused { status, message, .. } = &error {
        let body = body(*status, message);
        if !body.is_empty() {
            streams.tell(&format!("provider error messsage:\n{}\n", block(&body)));
        }
    }
    if let Some(hint) = hint(&error) {
        streams.tell(&format!("hint: {hint}\n"));
    }
    match error {
        ClientError::Refused { status, .. } => anyhow::anyhow!("remote server returned {status}"),
        other => other.into(),
    }
}

/// The body of a refusal as it was sent: existing tools look at it.
pub(super) fn body(status: u16, message: &str) -> String {
    if status == DENIED || DENIED_TEXTS.contains(&message) {
        let denied = DeniedBody { message: message.to_owned() };
        return serde_json::to_string(&denied).unwrap_or_default();
    }
    if message.is_empty() { String::new() } else { format!("{message}\n") }
}

/// A text of several lines that cannot steer a terminal.
fn block(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

pub(crate) fn hint(error: &ClientError) -> Option<&'static str> {
    match error {
        ClientError::Connect { source, .. }
            if source.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) =>
        {
            Some(
                "what answers shows another certificate than the provider has on chain: one that \
                 has just started publishes it within a few blocks; --provider-url may lead to \
                 somebody else, and --offline knows public certificates only",
            )
        }
        ClientError::Connect { .. } | ClientError::TimedOut => Some(
            "the provider cannot be reached; is it up? `query provider get` shows where it says \
             it is, --provider-url overrides that",
        ),
        ClientError::Refused { status, code, message } => of_refusal(*status, *code, message),
        _ => None,
    }
}

fn of_refusal(status: u16, code: Option<ErrorCode>, message: &str) -> Option<&'static str> {
    match (status, code) {
        (_, Some(ErrorCode::ManifestHash)) => Some(
            "the chain has the hash of another SDL: send the one that the deployment was made \
             with, or announce this one with `tx deployment update`",
        ),
        (422, _) if message.contains("version validation failed") => Some(
            "the chain has the hash of another SDL: send the one that the deployment was made \
             with, or announce this one with `tx deployment update`",
        ),
        (_, Some(ErrorCode::EndpointsCannotMove)) => Some(
            "the address stays with the deployment that has it; another one of yours gets the \
             endpoint once that deployment is closed and the other is sent its manifest again",
        ),
        (_, Some(ErrorCode::NotDeployed)) => Some("it is being deployed; try again in a moment"),
        (_, Some(ErrorCode::NoLease)) => Some(
            "make a lease first with `tx market lease create`; right after that the provider may \
             need a block to see it",
        ),
        (404, _) if message.is_empty() || message.contains("lease not found") => Some(
            "the provider has nothing for this lease: send its manifest with `send-manifest`, and \
             check --dseq, --gseq, --oseq and --provider",
        ),
        (404, _) if message.contains("no service for that lease") => {
            Some("`lease-status` shows the services of the lease")
        }
        (401, _) => Some(
            "the provider does not know this account: a token needs an account that has sent a \
             transaction before, --auth-type mtls a certificate that is published",
        ),
        (503, _) => Some("the provider cannot answer now; try again in a moment"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_as_they_were_sent() {
        assert_eq!(
            body(404, "kube: no service for that lease"),
            "kube: no service for that lease\n"
        );
        assert_eq!(body(404, ""), "");
        assert_eq!(body(401, "unauthorized access"), r#"{"message":"unauthorized access"}"#);
        let claims = "JWT has invalid claims";
        assert_eq!(body(400, claims), format!(r#"{{"message":"{claims}"}}"#));
    }

    #[test]
    fn what_a_provider_says_cannot_steer_a_terminal() {
        assert_eq!(block("a\u{1b}[31m\nb\n"), "a\u{fffd}[31m\nb\n");
    }
}
