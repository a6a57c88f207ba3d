//! What a service of confidential computing may say about keys, logins and their broker.
//!
//! The rules and texts are those of chain-sdk's branch of confidential computing. Where its main
//! line accepts what the branch refuses, that is a warning here.

use crate::document::{Credentials, Kbs, Reader, Service, Spot};
use crate::problem::Path;

/// Texts that a guest unseals begin with it.
const SEALED: &str = "sealed.";
const LONGEST_RESOURCE_URI: usize = 2048;
const LONGEST_POLICY_URI: usize = 1024;
const LONGEST_URL: usize = 2048;
const LONGEST_CERTIFICATE: usize = 64 * 1024;
const LONGEST_POLICY: usize = 1024 * 1024;
const DIGEST: &str = "sha256-";

/// Reports what is wrong with a service's broker, and with what needs one.
pub(super) fn check(reader: &mut Reader<'_, '_>, service: &Service<'_>) {
    let services = Path::ROOT.key("services");
    let name = services.key(service.name.value);
    let params_path = name.key("params");
    let params = service.params.as_ref();
    let is_confidential = params.is_some_and(|params| !params.tee.value.is_empty());
    let kbs = params.and_then(|params| params.kbs.as_ref());
    if let Some(kbs) = kbs
        && let Err(why) = check_kbs(kbs, is_confidential)
    {
        reader.problem(params_path.key("kbs"), kbs.place, why);
    }
    if let Some(credentials) = &service.credentials {
        let path = name.key("credentials");
        match check_credentials(credentials, is_confidential) {
            Ok(()) => {}
            Err(Problem::Error(why)) => reader.problem(path.key("uri"), credentials.place, why),
            Err(Problem::Warning(why)) => reader.lint(path, credentials.place, why),
        }
    }
    const NO_KBS: &str = "KBS-backed workload data requires an explicit params.kbs selection";
    if kbs.is_none() {
        let has_uri = service.credentials.as_ref().is_some_and(|it| !it.uri.trim().is_empty());
        let mut volumes = params.iter().flat_map(|params| params.storage.iter());
        let key_ref = volumes.find(|(_, volume)| !volume.key_ref.value.trim().is_empty());
        if has_uri || key_ref.is_some() {
            let place = key_ref.map_or(service.name.place, |(_, volume)| volume.key_ref.place);
            reader.problem_allowing(params_path, place, NO_KBS, "kbs: {mode: provider}");
        } else if let Some(sealed) = service.env.iter().flatten().find(|entry| {
            entry.value.split_once('=').is_some_and(|(_, value)| value.starts_with(SEALED))
        }) {
            reader.lint(name.key("env"), sealed.place, NO_KBS);
        }
    }
}

/// Reports what is wrong with the reference to a volume's key.
pub(super) fn check_key_ref(
    reader: &mut Reader<'_, '_>,
    key_ref: Spot<&str>,
    is_persistent: bool,
    path: Path<'_>,
) {
    if key_ref.value.trim().is_empty() {
        return;
    }
    if !is_sealed(key_ref.value) {
        let why = "storage keyRef must use sealed.<JWS> format";
        reader.problem_allowing(path, key_ref.place, why, "sealed.HEADER.PAYLOAD.SIGNATURE");
    } else if !is_persistent {
        let why = "storage keyRef requires persistent storage";
        reader.problem_allowing(path, key_ref.place, why, "a volume with persistent: true");
    }
}

/// `sealed.` and the three parts of a compact JWS.
fn is_sealed(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        !part.is_empty() && part.bytes().all(is_base64url)
    };
    let Some(jws) = text.strip_prefix(SEALED) else { return false };
    jws.split('.').count() == 3 && jws.split('.').all(is_part)
}

fn check_kbs(kbs: &Kbs<'_>, is_confidential: bool) -> Result<(), &'static str> {
    if !is_confidential {
        return Err("KBS configuration requires tee");
    }
    let tenant = [kbs.url, kbs.certificate, kbs.image_security_policy_uri, kbs.agent_policy];
    match kbs.mode {
        "provider" if tenant.iter().any(|text| !text.is_empty()) => {
            Err("provider mode cannot include tenant KBS fields")
        }
        "provider" => Ok(()),
        "tenant" if tenant.iter().any(|text| text.is_empty()) => {
            Err("tenant mode requires a complete public configuration")
        }
        "tenant" => check_tenant(kbs),
        _ => Err("KBS mode must be provider or tenant"),
    }
}

fn check_tenant(kbs: &Kbs<'_>) -> Result<(), &'static str> {
    let has_control = |text: &str| text.contains(['\0', '\r']);
    if !is_https_origin(kbs.url) {
        return Err("tenant KBS URL must be a canonical HTTPS origin");
    }
    if kbs.certificate.len() > LONGEST_CERTIFICATE || has_control(kbs.certificate) {
        return Err("tenant KBS certificate must be a bounded PEM value");
    }
    check_policy_uri(kbs.image_security_policy_uri)?;
    if kbs.agent_policy.len() > LONGEST_POLICY
        || !kbs.agent_policy.contains("package agent_policy")
        || has_control(kbs.agent_policy)
    {
        return Err("tenant agent policy must be a bounded agent_policy document");
    }
    Ok(())
}

fn is_https_origin(url: &str) -> bool {
    let is_host = |host: &str| {
        let is_part =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '[' | ']');
        !host.is_empty() && host.chars().all(is_part)
    };
    url.len() <= LONGEST_URL && url.strip_prefix("https://").is_some_and(is_host)
}

fn check_policy_uri(uri: &str) -> Result<(), &'static str> {
    let Some(parts) = resource(uri, LONGEST_POLICY_URI) else {
        return Err("image security policy URI must be a canonical kbs:/// resource URI");
    };
    let digest = match parts.as_slice() {
        [repository, "security-policy", tag] if !repository.is_empty() => tag.strip_prefix(DIGEST),
        _ => None,
    };
    match digest.filter(|digest| digest.len() == 64) {
        None => Err("image security policy URI must be content addressed"),
        Some(digest) if !digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) => {
            Err("image security policy URI must end in a lowercase SHA-256 digest")
        }
        Some(_) => Ok(()),
    }
}

/// The parts of a `kbs:///` URI without host, query and fragment.
fn resource(uri: &str, longest: usize) -> Option<Vec<&str>> {
    let path = uri.strip_prefix("kbs:///").filter(|_| uri.len() <= longest)?;
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !"?#%@".contains(c);
    path.chars().all(is_plain).then(|| path.split('/').collect())
}

enum Problem {
    Error(&'static str),
    Warning(&'static str),
}

fn check_credentials(credentials: &Credentials<'_>, is_confidential: bool) -> Result<(), Problem> {
    let Credentials { host, email, username, password, uri, .. } = credentials;
    let has_inline = [host, email, username, password].iter().any(|text| !text.trim().is_empty());
    if uri.is_empty() {
        return match is_confidential {
            true => Err(Problem::Warning(
                "confidential registry credentials require a KBS resource URI on newer providers",
            )),
            false => Ok(()),
        };
    }
    if has_inline {
        return Err(Problem::Error("registry credentials cannot mix inline fields with uri"));
    }
    if !is_confidential {
        return Err(Problem::Error("registry credential uri requires a confidential service"));
    }
    let is_segment = |part: &&str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !part.is_empty() && !part.starts_with('.') && part.chars().all(is_allowed)
    };
    let parts = resource(uri, LONGEST_RESOURCE_URI);
    match parts.is_some_and(|parts| parts.len() == 3 && parts.iter().all(is_segment)) {
        true => Ok(()),
        false => Err(Problem::Error(
            "registry credential uri must be a bounded canonical kbs:///repo/type/tag",
        )),
    }
}
