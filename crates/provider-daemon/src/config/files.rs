//! Files that must be there before the provider starts. The one thing here that looks at the disk.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use akash_net::TlsFiles;
use akash_types::with_causes;
use kube_access::Access;
use provider_gateway::ScrapeToken;

use super::Config;
use super::cluster::Cluster;
use super::reader::ConfigError;

/// What is wrong with files that the configuration names.
pub fn missing_files(config: &Config) -> Vec<ConfigError> {
    let error = |setting: &str, path: &Path, (wrong, remedy): Wrong| ConfigError {
        setting: setting.to_owned(),
        place: config.effective.place(setting),
        wrong: format!("{}: {wrong}", path.display()),
        remedy: remedy.to_owned(),
    };
    let script = config.script.as_ref().and_then(|script| {
        Some(error("bid-price-script-path", &script.path, executable(&script.path)?))
    });
    let store = config.store.parent().and_then(|folder| missing_folder(folder, &config.home));
    let store = store.map(|wrong| error("store-path", &config.store, wrong));
    let socket = config.ctl_socket.parent().and_then(|folder| missing_folder(folder, &config.home));
    let socket = socket.map(|wrong| error("ctl-socket", &config.ctl_socket, wrong));
    let kubeconfig = match config.cluster {
        Cluster::Kubernetes => Access::check(&config.kubernetes.kubeconfig).err(),
        Cluster::Simulated(_) | Cluster::Swarm => None,
    };
    let kubeconfig = kubeconfig.map(|wrong| ConfigError {
        setting: "kubeconfig".to_owned(),
        place: config.effective.place("kubeconfig"),
        wrong: with_causes(&wrong),
        remedy: "give a file that kubectl can use, or run in a pod of the cluster".to_owned(),
    });
    let token = config.gateway.metrics_token.as_deref();
    let token = token.and_then(|path| Some((path, read_token(path).err()?)));
    let token = token.map(|(path, wrong)| error("metrics-token-file", path, wrong));
    let node = node_files(config);
    [script, store, socket, kubeconfig, token, node].into_iter().flatten().collect()
}

/// What is wrong with certificates for nodes.
fn node_files(config: &Config) -> Option<ConfigError> {
    let TlsFiles { ca, identity } = config.chain.files.clone();
    let of = |setting: &str, files: TlsFiles| {
        let wrong = files.configure(config.outbound.trust()).err()?;
        Some(ConfigError {
            setting: setting.to_owned(),
            place: config.effective.place(setting),
            wrong: with_causes(&wrong),
            remedy: "give files in PEM that this user may read".to_owned(),
        })
    };
    let of_ca = ca.and_then(|ca| of("node-ca", TlsFiles { ca: Some(ca), identity: None }));
    of_ca.or_else(|| of("node-cert", TlsFiles { ca: None, identity }))
}

/// A token for metrics that can be guessed protects nothing.
const SHORTEST_TOKEN: usize = 16;

pub(crate) fn read_token(path: &Path) -> Result<ScrapeToken, Wrong> {
    let remedy =
        "give a file with a token of 16 characters or more, such as `openssl rand -hex 32` prints";
    let text = std::fs::read_to_string(path).map_err(|error| (error.to_string(), remedy))?;
    let is_token = |text: &str| {
        text.len() >= SHORTEST_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    match ScrapeToken::new(&text) {
        Some(token) if is_token(text.trim()) => Ok(token),
        _ => Err(("there is no such token in it".to_owned(), remedy)),
    }
}

type Wrong = (String, &'static str);

fn executable(path: &Path) -> Option<Wrong> {
    let remedy = "give the path of a program that this user may run";
    match std::fs::metadata(path) {
        Err(error) => Some((error.to_string(), remedy)),
        Ok(file) if !file.is_file() => Some(("it is not a file".to_owned(), remedy)),
        Ok(file) if file.permissions().mode() & 0o111 == 0 => {
            Some(("nobody may run it".to_owned(), "make it executable with chmod +x"))
        }
        Ok(_) => None,
    }
}

/// The home directory is made at start; others are not.
fn missing_folder(folder: &Path, home: &Path) -> Option<Wrong> {
    let there = folder.as_os_str().is_empty() || folder == home || folder.is_dir();
    let wrong = || (format!("{} is not a directory", folder.display()), "create it first");
    (!there).then(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_must_be_a_file_that_may_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("price.sh");
        assert!(executable(&path).unwrap().0.contains("No such file"));
        assert_eq!(executable(folder.path()).unwrap().0, "it is not a file");
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        assert_eq!(executable(&path).unwrap().0, "nobody may run it");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(executable(&path), None);
    }

    #[test]
    fn a_token_for_metrics_is_one_long_word() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        assert!(read_token(&path).unwrap_err().0.contains("No such file"));
        for (text, is_good) in [
            ("", false),
            ("short\n", false),
            ("two words of some length\n", false),
            ("0123456789abcdef\n", true),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read_token(&path).is_ok(), is_good, "{text:?}");
        }
    }

    #[test]
    fn only_the_home_directory_may_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        assert_eq!(missing_folder(&home, &home), None);
        assert_eq!(missing_folder(folder.path(), &home), None);
        assert!(missing_folder(&folder.path().join("other"), &home).is_some());
    }
}
