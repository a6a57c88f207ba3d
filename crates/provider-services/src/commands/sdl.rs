//! `sdl …` and `sdl-to-manifest`: what an SDL says and becomes.

use std::collections::BTreeSet;
use std::process::ExitCode;

use akash_sdl::{Problem, Sdl, SdlErrors, groups_to_json_pretty};
use anyhow::bail;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::cli::{
    Groups, GroupsFormat, ManifestFormat, ReportFormat, SdlCommand, SdlFile, SdlToManifest,
    SdlVersion, Validate,
};
use crate::console::Streams;
use crate::output::{Palette, Severity, counted, render_groups, render_problem};
use crate::source::Source;

pub(crate) fn run(command: &SdlCommand, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    match command {
        SdlCommand::Validate(args) => validate(args, streams),
        SdlCommand::Groups(args) => groups(args, streams),
        SdlCommand::Version(args) => version(args, streams),
    }
}

/// Prints the manifest, to the byte as the Go program does.
pub(crate) fn to_manifest(
    args: &SdlToManifest,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let sdl = read_hashable(&args.sdl, streams)?;
    let text = match args.output {
        ManifestFormat::Json => sdl.manifest().to_json_pretty(),
        // Ends its last line itself; the empty line that follows is the Go program's.
        ManifestFormat::Yaml => sdl.manifest().to_yaml(),
    };
    streams.print(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn groups(args: &Groups, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    let sdl = read_valid(&args.sdl, streams)?;
    let text = match args.output {
        GroupsFormat::Json => groups_to_json_pretty(sdl.groups()) + "\n",
        GroupsFormat::Table => render_groups(sdl.groups(), sdl.manifest(), &streams.stdout_palette),
    };
    streams.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn version(args: &SdlVersion, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    let version = read_hashable(&args.sdl, streams)?.version();
    let text = if args.base64 { STANDARD.encode(version.as_bytes()) } else { version.to_string() };
    streams.print(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// The findings are this command's result: they go to standard output, valid or not.
fn validate(args: &Validate, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    let source = Source::read(&args.sdl.path, streams.stdin)?;
    let result = Sdl::read(&source.text);
    let text = match args.output {
        ReportFormat::Text => report(&source, &result, &streams.stdout_palette),
        ReportFormat::Json => serde_json::to_string_pretty(&Report::of(&result))? + "\n",
    };
    streams.print(&text)?;
    Ok(if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads an SDL for a command that needs its manifest or the hash of it: one whose manifest every
/// other program would write in the same way.
pub(crate) fn read_hashable(file: &SdlFile, streams: &mut Streams<'_>) -> anyhow::Result<Sdl> {
    let sdl = read_valid(file, streams)?;
    check_hashable(&sdl)?;
    Ok(sdl)
}

/// Whether the hash of the manifest is known.
pub(crate) fn check_hashable(sdl: &Sdl) -> anyhow::Result<()> {
    match sdl.manifest().hash_doubts().into_iter().next() {
        Some(doubt) => bail!(doubt),
        None => Ok(()),
    }
}

/// Reads an SDL for a command that needs a valid one. What is wrong is shown on standard error.
pub(crate) fn read_valid(file: &SdlFile, streams: &mut Streams<'_>) -> anyhow::Result<Sdl> {
    let source = Source::read(&file.path, streams.stdin)?;
    read_valid_source(&source, streams)
}

/// The same of a text that was read before.
pub(crate) fn read_valid_source(source: &Source, streams: &mut Streams<'_>) -> anyhow::Result<Sdl> {
    match Sdl::read(&source.text) {
        Ok(sdl) => Ok(sdl),
        Err(errors) => {
            let palette = streams.stderr_palette;
            for problem in errors.problems() {
                streams.tell(&render_problem(Severity::Error, source, problem, &palette));
                streams.tell("\n");
            }
            bail!(refusal(source, &errors))
        }
    }
}

fn refusal(source: &Source, errors: &SdlErrors) -> String {
    format!("{} is not a valid SDL: {}", source.name, counted(errors.problems().len(), "problem"))
}

/// The findings, for people.
fn report(source: &Source, result: &Result<Sdl, SdlErrors>, palette: &Palette) -> String {
    let (errors, warnings, last) = match result {
        Ok(sdl) => (&[][..], sdl.warnings(), praise(source, sdl, palette)),
        Err(errors) => {
            let strong = palette.strong;
            let last = format!("{strong}{}{strong:#}\n", refusal(source, errors));
            (errors.problems(), errors.warnings(), last)
        }
    };
    let mut text = String::new();
    for (severity, problems) in [(Severity::Warning, warnings), (Severity::Error, errors)] {
        for problem in problems {
            text.push_str(&render_problem(severity, source, problem, palette));
            text.push('\n');
        }
    }
    text + &last
}

/// One line for an SDL that is valid.
fn praise(source: &Source, sdl: &Sdl, palette: &Palette) -> String {
    let services = sdl.manifest().groups.iter().flat_map(|group| &group.services);
    let names: BTreeSet<&str> = services.clone().map(|service| service.name.as_str()).collect();
    let replicas = services.fold(0_usize, |sum, service| {
        sum.saturating_add(usize::try_from(service.count).unwrap_or(usize::MAX))
    });
    let warnings = match sdl.warnings().len() {
        0 => String::new(),
        count => format!(" ({})", counted(count, "warning")),
    };
    let good = palette.good;
    let version = match sdl.manifest().hash_doubts().first() {
        Some(doubt) => format!("version unknown ({doubt})"),
        None => format!("version {}", sdl.version()),
    };
    format!(
        "{name} is {good}valid{good:#}{warnings}: {services}, {groups}, {replicas}, {version}\n",
        name = source.name,
        services = counted(names.len(), "service"),
        groups = counted(sdl.groups().len(), "group"),
        replicas = counted(replicas, "replica"),
    )
}

/// The findings, for programs.
#[derive(Serialize)]
struct Report<'a> {
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    errors: Vec<Finding<'a>>,
    warnings: Vec<Finding<'a>>,
}

#[derive(Serialize)]
struct Finding<'a> {
    path: &'a str,
    line: u32,
    column: u32,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<&'a str>,
}

impl<'a> Report<'a> {
    fn of(result: &'a Result<Sdl, SdlErrors>) -> Self {
        let (version, errors, warnings) = match result {
            Ok(sdl) => {
                let is_known = sdl.manifest().hash_doubts().is_empty();
                let version = is_known.then(|| sdl.version().to_string());
                (version, &[][..], sdl.warnings())
            }
            Err(errors) => (None, errors.problems(), errors.warnings()),
        };
        Self {
            valid: result.is_ok(),
            version,
            errors: errors.iter().map(Finding::of).collect(),
            warnings: warnings.iter().map(Finding::of).collect(),
        }
    }
}

impl<'a> Finding<'a> {
    fn of(problem: &'a Problem) -> Self {
        Self {
            path: &problem.path,
            line: problem.place.line,
            column: problem.place.column,
            message: &problem.message,
            allowed: problem.allowed.as_deref(),
        }
    }
}
