//! An image of one layer, and its archive.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::tar::Tar;

#[derive(Clone, Debug)]
pub struct Image {
    name: String,
    layer: Vec<u8>,
    config: Value,
}

/// How the layer lies in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// As it is: quick to write, for what goes no further than this machine.
    Plain,
    /// Compressed, for what is sent.
    Gzip,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// By which a registry and a node know the image.
    pub digest: String,
    /// Bytes of the archive.
    pub size: usize,
}

impl Image {
    /// An image of these files; `config` says how they are run, as OCI calls it.
    pub fn new(name: &str, layer: Tar, config: Value) -> Result<Self> {
        Ok(Self { name: name.to_owned(), layer: layer.finish()?, config })
    }

    /// The name that a pod asks for it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes it as an OCI archive, which `docker load` reads too.
    pub fn write(&self, path: &Path, packing: Packing) -> Result<Written> {
        let kind = |of: &str| format!("application/vnd.oci.image.{of}");
        let config = json!({
            "os": "linux", "architecture": architecture(), "config": self.config,
            "rootfs": {"type": "layers", "diff_ids": [digest(&self.layer)]}
        });
        let config = Blob::new(&kind("config.v1+json"), config.to_string().into_bytes());
        let layer = match packing {
            Packing::Plain => Blob::new(&kind("layer.v1.tar"), self.layer.clone()),
            Packing::Gzip => Blob::new(&kind("layer.v1.tar+gzip"), gzip(&self.layer)?),
        };
        let manifest = json!({
            "schemaVersion": 2, "mediaType": kind("manifest.v1+json"),
            "config": config.described(), "layers": [layer.described()]
        });
        let manifest = Blob::new(&kind("manifest.v1+json"), manifest.to_string().into_bytes());
        let mut described = manifest.described();
        if let Some(described) = described.as_object_mut() {
            let tag = self.name.rsplit_once(':').map_or("latest", |(_, tag)| tag);
            let names = json!({
                "io.containerd.image.name": self.name, "org.opencontainers.image.ref.name": tag
            });
            described.insert("annotations".to_owned(), names);
        }
        let index = json!({"schemaVersion": 2, "mediaType": kind("index.v1+json"),
                           "manifests": [described]});
        let docker = json!([{"Config": config.path(), "RepoTags": [self.name],
                             "Layers": [layer.path()]}]);

        let mut archive = Tar::default();
        archive.file("oci-layout", 0o644, br#"{"imageLayoutVersion":"1.0.0"}"#)?;
        for blob in [&config, &layer, &manifest] {
            archive.file(&blob.path(), 0o644, &blob.content)?;
        }
        archive.file("index.json", 0o644, index.to_string().as_bytes())?;
        archive.file("manifest.json", 0o644, docker.to_string().as_bytes())?;
        let archive = archive.finish()?;
        std::fs::write(path, &archive).with_context(|| format!("writing {}", path.display()))?;
        Ok(Written { digest: manifest.digest, size: archive.len() })
    }
}

/// A part of the archive, which is called by what it holds.
struct Blob {
    media_type: String,
    digest: String,
    content: Vec<u8>,
}

impl Blob {
    fn new(media_type: &str, content: Vec<u8>) -> Self {
        Self { media_type: media_type.to_owned(), digest: digest(&content), content }
    }

    fn described(&self) -> Value {
        json!({"mediaType": self.media_type, "digest": self.digest, "size": self.content.len()})
    }

    fn path(&self) -> String {
        format!("blobs/{}", self.digest.replace(':', "/"))
    }
}

fn digest(content: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(content) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Without a time and without a name in its head.
fn gzip(content: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(encoder.finish()?)
}

/// This machine's, as Go calls it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use std::process::Command;

    use super::*;

    fn image() -> Image {
        let mut layer = Tar::default();
        layer.file("hello", 0o644, b"hello\n").unwrap();
        Image::new("localhost/hello:1", layer, json!({"Cmd": ["/hello"]})).unwrap()
    }

    /// A file of an archive, as another program reads it.
    fn read(archive: &Path, name: &str) -> Vec<u8> {
        let read = Command::new("tar").arg("-xOf").arg(archive).arg(name).output().unwrap();
        assert!(read.status.success(), "{name}: {}", String::from_utf8_lossy(&read.stderr));
        read.stdout
    }

    #[test]
    fn the_archive_leads_from_its_index_to_the_files_by_their_digests() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("image.tar");
        let written = image().write(&archive, Packing::Gzip).unwrap();
        assert_eq!(written.size, usize::try_from(archive.metadata().unwrap().len()).unwrap());
        let json = |name: &str| serde_json::from_slice::<Value>(&read(&archive, name)).unwrap();
        let follow = |part: &Value| {
            let digest = part["digest"].as_str().unwrap();
            let content = read(&archive, &format!("blobs/{}", digest.replace(':', "/")));
            assert_eq!(super::digest(&content), digest);
            assert_eq!(part["size"], content.len());
            content
        };
        let index = json("index.json");
        let described = &index["manifests"][0];
        assert_eq!(described["digest"], written.digest.as_str());
        assert_eq!(described["annotations"]["io.containerd.image.name"], "localhost/hello:1");
        assert_eq!(described["annotations"]["org.opencontainers.image.ref.name"], "1");
        let manifest: Value = serde_json::from_slice(&follow(described)).unwrap();
        let config: Value = serde_json::from_slice(&follow(&manifest["config"])).unwrap();
        let layer = follow(&manifest["layers"][0]);
        std::fs::write(folder.path().join("layer.tar.gz"), layer).unwrap();
        assert_eq!(read(&folder.path().join("layer.tar.gz"), "hello"), b"hello\n");
        assert_eq!(config["rootfs"]["diff_ids"][0], super::digest(&image().layer));
        assert_eq!(json("manifest.json")[0]["RepoTags"], json!(["localhost/hello:1"]));
    }

    #[test]
    fn the_same_files_give_the_same_archive() {
        let folder = tempfile::tempdir().unwrap();
        for packing in [Packing::Plain, Packing::Gzip] {
            let archives = ["one", "other"].map(|name| folder.path().join(name));
            let written = archives.each_ref().map(|path| image().write(path, packing).unwrap());
            assert_eq!(written[0], written[1]);
            let bytes = archives.map(|path| std::fs::read(path).unwrap());
            assert!(bytes[0] == bytes[1]);
        }
    }
}
