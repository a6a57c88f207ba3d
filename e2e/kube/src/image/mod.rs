//! Images for a node, made of files of this machine: no registry is asked for anything.

mod tar;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use tar::Tar;

/// What a pod is held by while its containers come and go.
pub(crate) const PAUSE: &str = "localhost/pause:bed";

/// An image of one layer, as a file that containerd imports.
#[derive(Clone, Debug)]
pub struct Image {
    name: String,
    layer: Vec<u8>,
    config: Value,
}

impl Image {
    /// An image with the tools of busybox, which runs `command` unless a pod says otherwise.
    ///
    /// # Errors
    ///
    /// When no busybox without libraries is installed.
    pub fn busybox(name: &str, command: &[&str]) -> Result<Self> {
        let layer = busybox_layer()?;
        let config = json!({"Env": ["PATH=/bin"], "Cmd": command});
        Ok(Self { name: name.to_owned(), layer, config })
    }

    pub(crate) fn pause() -> Result<Self> {
        Self::busybox(PAUSE, &["tail", "-f", "/dev/null"])
    }

    /// The name that a pod asks for it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes it as an OCI archive.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let kind = |of: &str| format!("application/vnd.oci.image.{of}");
        let config = json!({
            "os": "linux", "architecture": architecture(), "config": self.config,
            "rootfs": {"type": "layers", "diff_ids": [digest(&self.layer)]}
        });
        let config = config.to_string().into_bytes();
        let manifest = json!({
            "schemaVersion": 2, "mediaType": kind("manifest.v1+json"),
            "config": part(&kind("config.v1+json"), &config),
            "layers": [part(&kind("layer.v1.tar"), &self.layer)]
        });
        let manifest = manifest.to_string().into_bytes();
        let mut described = part(&kind("manifest.v1+json"), &manifest);
        if let Some(described) = described.as_object_mut() {
            let names = json!({"io.containerd.image.name": self.name});
            described.insert("annotations".to_owned(), names);
        }
        let index = json!({"schemaVersion": 2, "manifests": [described]});

        let mut archive = Tar::default();
        archive.file("oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        for blob in [&config, &self.layer, &manifest] {
            archive.file(&format!("blobs/{}", digest(blob).replace(':', "/")), 0o644, blob)?;
        }
        archive.file("index.json", 0o644, index.to_string().as_bytes())?;
        std::fs::write(path, archive.finish())
            .with_context(|| format!("writing {}", path.display()))
    }
}

fn part(media_type: &str, content: &[u8]) -> Value {
    json!({"mediaType": media_type, "digest": digest(content), "size": content.len()})
}

fn digest(content: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(content) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// This machine's, as Go calls it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn busybox_layer() -> Result<Vec<u8>> {
    let advice = "install the Debian package busybox-static";
    let path = ["/bin/busybox", "/usr/bin/busybox"].map(Path::new);
    let path = path.into_iter().find(|path| path.is_file()).context(advice)?;
    let program = std::fs::read(path)?;
    let loads = |loader: &[u8]| program.windows(loader.len()).any(|part| part == loader);
    ensure!(!loads(b"/ld-linux") && !loads(b"/ld-musl"), "busybox needs libraries: {advice}");
    let tools = Command::new(path).arg("--list").output()?;

    let mut layer = Tar::default();
    for (folder, mode) in [("bin", 0o755), ("etc", 0o755), ("root", 0o700), ("tmp", 0o1777)] {
        layer.folder(folder, mode)?;
    }
    layer.file("etc/passwd", 0o644, b"root:x:0:0:root:/root:/bin/sh\n")?;
    layer.file("bin/busybox", 0o755, &program)?;
    for tool in String::from_utf8(tools.stdout)?.lines().filter(|tool| *tool != "busybox") {
        layer.link(&format!("bin/{tool}"), "busybox")?;
    }
    Ok(layer.finish())
}
