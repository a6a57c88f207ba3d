//! The way through: text → tree → document → groups and manifest → checks.

use std::time::Duration;

use akash_types::GroupSpec;

use crate::build::{build, check_references, report_violations};
use crate::document::{Document, Grammar, Reader};
use crate::manifest::{Manifest, Version};
use crate::problem::{Path, Place, Problem, SdlErrors};
use crate::yaml::{self, MAX_BYTES};

/// A valid SDL and what it becomes.
#[derive(Clone, Debug)]
pub struct Sdl {
    grammar: Grammar,
    groups: Vec<GroupSpec>,
    manifest: Manifest,
    reclamation: Option<Duration>,
    warnings: Vec<Problem>,
}

impl Sdl {
    /// The largest SDL that is read, in bytes.
    pub const MAX_BYTES: usize = MAX_BYTES;

    /// Reads an SDL.
    pub fn read(text: &str) -> Result<Self, SdlErrors> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > MAX_BYTES {
            return Err(whole(format!(
                "the SDL has {} bytes; at most {MAX_BYTES} (1 MiB) are read",
                text.len()
            )));
        }
        let tree = yaml::load(text).map_err(single)?;
        let mut reader = Reader::new(&tree);
        let built = Document::decode(&mut reader).map(|document| {
            check_references(&mut reader, &document);
            let built = build(&mut reader, &document);
            // While references lead nowhere, groups are incomplete and complaints about them
            // would only repeat that.
            if !reader.has_problems() {
                report_violations(&mut reader, &document, &built);
            }
            (
                document.grammar,
                document.reclamation.and_then(|reclamation| reclamation.min_window),
                built,
            )
        });
        let (problems, warnings) = reader.finish();
        match (SdlErrors::new(problems, &warnings), built) {
            (Some(errors), _) => Err(errors),
            (None, Some((grammar, reclamation, built))) => Ok(Self {
                grammar,
                groups: built.groups,
                manifest: built.manifest,
                reclamation,
                warnings,
            }),
            (None, None) => Err(whole("this is not an SDL".to_owned())),
        }
    }

    /// Reads an SDL from bytes, which have to be UTF-8.
    pub fn read_bytes(bytes: &[u8]) -> Result<Self, SdlErrors> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::read(text),
            Err(error) => {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
                let line = u32::try_from(line).unwrap_or(u32::MAX);
                Err(single(Problem {
                    path: String::new(),
                    place: Place { line, column: 1 },
                    message: "this line is not UTF-8".to_owned(),
                    allowed: Some("save the file as UTF-8".to_owned()),
                }))
            }
        }
    }

    /// Which grammar it was read by.
    pub fn grammar(&self) -> Grammar {
        self.grammar
    }

    /// The deployment's groups, for the chain.
    pub fn groups(&self) -> &[GroupSpec] {
        &self.groups
    }

    /// The manifest, for the provider.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Takes the groups and the manifest out.
    pub fn into_parts(self) -> (Vec<GroupSpec>, Manifest) {
        (self.groups, self.manifest)
    }

    /// The manifest's hash, for the chain.
    pub fn version(&self) -> Version {
        self.manifest.version()
    }

    /// How long a provider has to wait before it may take the machines back, where the tenant
    /// set that.
    pub fn reclamation_min_window(&self) -> Option<Duration> {
        self.reclamation
    }

    /// What the SDL's JSON schema would refuse although chain and providers accept it.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}

fn single(problem: Problem) -> SdlErrors {
    SdlErrors::one(problem)
}

fn whole(message: String) -> SdlErrors {
    single(Problem {
        path: Path::ROOT.to_string(),
        place: Place { line: 1, column: 1 },
        message,
        allowed: None,
    })
}
