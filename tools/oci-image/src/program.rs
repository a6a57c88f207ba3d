//! An image of one program and nothing else: no shell, no package manager, no root.
//!
//! What it holds: the program, the libraries that it loads, the roots of the web's certificates
//! and the two files by which names and users are looked up.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::image::Image;
use crate::libraries;
use crate::tar::Tar;

/// Who runs it: nobody that a machine has.
const USER: u32 = 65532;

/// Where the roots of the web are looked for.
const LOOKED_FOR: &str = "etc/ssl/certs/ca-certificates.crt";
const ROOTS: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
];

/// An image that runs a program of this machine.
pub fn of_program(name: &str, program: &Path) -> Result<Image> {
    let file = program.file_name().and_then(|file| file.to_str()).context("it has no name")?;
    let place = format!("bin/{file}");
    let mut files = vec![(place.clone(), 0o755, read(program)?)];
    for library in libraries::needed_by(program)? {
        let inside = library.to_str().context("a path that is no text")?.trim_start_matches('/');
        files.push((inside.to_owned(), 0o755, read(&library)?));
    }
    let users =
        format!("root:x:0:0:root:/:/nowhere\nprovider:x:{USER}:{USER}:provider:/:/nowhere\n");
    files.push(("etc/passwd".to_owned(), 0o644, users.into_bytes()));
    files.push(("etc/nsswitch.conf".to_owned(), 0o644, b"hosts: files dns\n".to_vec()));
    if let Some(roots) = ROOTS.iter().find(|path| Path::new(path).is_file()) {
        files.push((LOOKED_FOR.to_owned(), 0o644, read(Path::new(roots))?));
    }
    let config = json!({
        "User": format!("{USER}:{USER}"), "Env": ["PATH=/bin", "HOME=/tmp"],
        "Entrypoint": [format!("/{place}")], "WorkingDir": "/",
        "Labels": {
            "org.opencontainers.image.title": file,
            "org.opencontainers.image.licenses": "Apache-2.0"
        }
    });
    Image::new(name, layer(files)?, config)
}

/// A copy of a program without what only a debugger reads.
pub fn without_symbols(program: &Path, copy: &Path) -> Result<()> {
    let done = Command::new("strip").arg("--strip-all").arg("-o").args([copy, program]).output();
    let done = done.context("running strip: install the package binutils")?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "strip {}: {said}", program.display());
    Ok(())
}

/// The files in order, each after the folders that it is in.
fn layer(mut files: Vec<(String, u32, Vec<u8>)>) -> Result<Tar> {
    files.sort();
    let mut folders = BTreeSet::new();
    for (path, _, _) in &files {
        folders.extend(
            path.match_indices('/').filter_map(|(at, _)| path.get(..at)).map(str::to_owned),
        );
    }
    let mut layer = Tar::default();
    for folder in folders {
        layer.folder(&folder, 0o755)?;
    }
    layer.folder("tmp", 0o1777)?;
    for (path, mode, content) in files {
        layer.file(&path, mode, &content)?;
    }
    Ok(layer)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("reading {}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn files_come_in_order_after_their_folders() {
        let file = |path: &str| (path.to_owned(), 0o644, Vec::new());
        let archive = layer(vec![file("lib/b/c"), file("bin/a")]).unwrap().finish().unwrap();
        let names: Vec<String> = archive
            .chunks(512)
            .map(|block| {
                block.iter().take_while(|byte| **byte != 0).map(|b| char::from(*b)).collect()
            })
            .filter(|name: &String| !name.is_empty())
            .collect();
        assert_eq!(names, ["bin", "lib", "lib/b", "tmp", "bin/a", "lib/b/c"]);
    }

    #[test]
    fn this_test_could_be_an_image() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        without_symbols(&std::env::current_exe().unwrap(), &program).unwrap();
        let image = of_program("localhost/test:1", &program).unwrap();
        let archive = folder.path().join("image.tar");
        image.write(&archive, crate::Packing::Plain).unwrap();
        let listed = Command::new("tar").arg("-tf").arg(&archive).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert_eq!(listed.lines().filter(|line| line.starts_with("blobs/")).count(), 3);
        for library in libraries::needed_by(&program).unwrap() {
            assert!(library.is_file(), "{}", library.display());
        }
    }
}
