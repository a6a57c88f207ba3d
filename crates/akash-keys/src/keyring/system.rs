//! Where the `os` keyring is: in the secret service of a desktop session, or in files.
//!
//! Go takes the service wherever one answers. This program does so too, unless all keys there are
//! lie in files: they were put there without a desktop and would seem lost otherwise.

use super::KeyringError;
use super::backend::Store;
use super::directory::Directory;
#[cfg(target_os = "linux")]
use super::secret_service::SecretService;

/// One of the two places of an `os` keyring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Service,
    Files,
}

/// What is known of the secret service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has one"))]
enum Service {
    /// There is none.
    Absent,
    /// There is one, which never had a key of this program.
    Unused,
    Used,
}

const fn place(service: Service, files: bool) -> Place {
    match (service, files) {
        (Service::Absent, _) | (Service::Unused, true) => Place::Files,
        (Service::Used, _) | (Service::Unused, false) => Place::Service,
    }
}

/// The store of the `os` keyring.
#[cfg(target_os = "linux")]
pub(super) fn store(
    files: Directory,
    session_bus: Option<String>,
) -> Result<Box<dyn Store>, KeyringError> {
    let service = session_bus.map(|bus| SecretService::connect(&bus)).transpose()?.flatten();
    let known = match &service {
        None => Service::Absent,
        Some(service) if service.has_keyring()? => Service::Used,
        Some(_) => Service::Unused,
    };
    Ok(match (place(known, !files.names()?.is_empty()), service) {
        (Place::Service, Some(service)) => Box::new(service),
        _ => Box::new(files),
    })
}

/// The store of the `os` keyring.
#[cfg(not(target_os = "linux"))]
pub(super) fn store(files: Directory, _: Option<String>) -> Result<Box<dyn Store>, KeyringError> {
    // Go uses a store of these systems that this program does not know.
    let own_store = cfg!(any(target_os = "macos", windows));
    let known = if own_store { Service::Unused } else { Service::Absent };
    match place(known, !files.names()?.is_empty()) {
        Place::Service => Err(KeyringError::UnsupportedSystem),
        Place::Files => Ok(Box::new(files)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_is_used_where_it_answers_unless_all_keys_are_in_files() {
        for (service, files, expected) in [
            (Service::Absent, false, Place::Files),
            (Service::Absent, true, Place::Files),
            (Service::Unused, false, Place::Service),
            (Service::Unused, true, Place::Files),
            (Service::Used, false, Place::Service),
            (Service::Used, true, Place::Service),
        ] {
            assert_eq!(place(service, files), expected, "{service:?}, files {files}");
        }
    }
}
