//! Images for a node, made of files of this machine: no registry is asked for anything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use oci_image::{Packing, Tar};
use serde_json::json;

/// What a pod is held by while its containers come and go.
pub(crate) const PAUSE: &str = "localhost/pause:bed";

/// An image that a node takes.
#[derive(Clone, Debug)]
pub struct Image(oci_image::Image);

impl Image {
    /// An image with the tools of busybox, which runs `command` unless a pod says otherwise.
    pub fn busybox(name: &str, command: &[&str]) -> Result<Self> {
        let config = json!({"Env": ["PATH=/bin"], "Cmd": command});
        Ok(Self(oci_image::Image::new(name, busybox_layer()?, config)?))
    }

    /// The same, with programs of this machine and the libraries that they need.
    pub fn busybox_with(name: &str, command: &[&str], programs: &[&str]) -> Result<Self> {
        let mut layer = busybox_layer()?;
        let mut files = BTreeSet::new();
        for program in programs {
            let found = find(program)?;
            files.extend(libraries(&found)?);
            files.insert(found);
        }
        let mut folders = BTreeSet::from(["bin", "etc", "root", "tmp"].map(PathBuf::from));
        for file in files {
            let inside = file.strip_prefix("/")?;
            let parents: Vec<_> = inside.ancestors().skip(1).collect();
            for folder in parents.into_iter().rev().filter(|it| !it.as_os_str().is_empty()) {
                if folders.insert(folder.to_owned()) {
                    layer.folder(&folder.to_string_lossy(), 0o755)?;
                }
            }
            layer.file(&inside.to_string_lossy(), 0o755, &std::fs::read(&file)?)?;
        }
        let config = json!({"Env": ["PATH=/bin:/usr/bin:/usr/sbin:/sbin"], "Cmd": command});
        Ok(Self(oci_image::Image::new(name, layer, config)?))
    }

    pub(crate) fn pause() -> Result<Self> {
        Self::busybox(PAUSE, &["tail", "-f", "/dev/null"])
    }

    /// The name that a pod asks for it by.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Writes it as an OCI archive.
    pub fn write(&self, path: &Path) -> Result<()> {
        self.0.write(path, Packing::Plain).map(drop)
    }
}

impl From<oci_image::Image> for Image {
    fn from(image: oci_image::Image) -> Self {
        Self(image)
    }
}

/// Where a program is on this machine.
fn find(program: &str) -> Result<PathBuf> {
    let places = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(|it| Path::new(it).join(program));
    let found = places.into_iter().find(|place| place.is_file());
    found.with_context(|| format!("{program} is not installed"))
}

/// The files that the loader would look for, by the paths that it looks at.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let listed = Command::new("ldd").arg(program).output()?;
    ensure!(listed.status.success(), "ldd does not read {}", program.display());
    let listed = String::from_utf8(listed.stdout)?;
    let paths = listed.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(paths.map(PathBuf::from).collect())
}

const ADVICE: &str = "install the Debian package busybox-static";

/// Where this machine's busybox is.
pub(crate) fn busybox() -> Result<&'static Path> {
    let path = ["/bin/busybox", "/usr/bin/busybox"].map(Path::new);
    path.into_iter().find(|path| path.is_file()).context(ADVICE)
}

fn busybox_layer() -> Result<Tar> {
    let path = busybox()?;
    let program = std::fs::read(path)?;
    let loads = |loader: &[u8]| program.windows(loader.len()).any(|part| part == loader);
    ensure!(!loads(b"/ld-linux") && !loads(b"/ld-musl"), "busybox needs libraries: {ADVICE}");
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
    Ok(layer)
}
