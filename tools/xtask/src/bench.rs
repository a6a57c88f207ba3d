//! `cargo xtask bench`: the benches by name, and their figures.
//!
//! A bench is a program that prints a line `figure: value unit` for each thing
//! it measured; whatever else it prints is for the reader.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::ValueEnum;
use serde_json::{Map, Number, Value, json};

use crate::process::{announce, cargo, each_line};
use crate::program::{Profile, build};

/// Where a bench lives.
struct Bench {
    name: &'static str,
    package: &'static str,
    target: &'static str,
    about: &'static str,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "attack",
        package: "e2e",
        target: "attack",
        about: "peak memory and an honest tenant's waits while strangers and a tenant attack",
    },
    Bench {
        name: "chain",
        package: "akash-chain",
        target: "chain",
        about: "blocks followed per second, and blocks until a burst of orders is bid on",
    },
    Bench {
        name: "daemon",
        package: "e2e",
        target: "daemon",
        about: "what a whole provider weighs, its recovery, and blocks until a burst is bid on",
    },
    Bench {
        name: "devnet",
        package: "akash-devnet",
        target: "devnet",
        about: "signed messages executed per second, and what 100,000 open orders weigh",
    },
    Bench {
        name: "engine",
        package: "provider-engine",
        target: "engine",
        about: "decisions of a provider per second",
    },
    Bench {
        name: "gateway",
        package: "provider-gateway",
        target: "gateway",
        about: "requests, handshakes and log lines over TLS per second, and what an idle stream weighs",
    },
    Bench {
        name: "hostname",
        package: "provider-operators",
        target: "hostname",
        about: "hostnames that get their routes per second, on a real API server",
    },
    Bench {
        name: "kube",
        package: "provider-kube",
        target: "kube",
        about: "calls and time per lease, and what 500 leases weigh, on a real API server",
    },
    Bench {
        name: "routes",
        package: "provider-gateway",
        target: "routes",
        about: "what a request for a status costs, without its connection",
    },
    Bench {
        name: "sdl",
        package: "akash-sdl",
        target: "sdl",
        about: "an SDL file to groups, manifest and version hash",
    },
];

const EXAMPLES: &str = "\
Examples:
  cargo xtask bench                    which benches there are
  cargo xtask bench sdl                run one
  cargo xtask bench sdl --output json  {\"figure\": {\"value\": 1.5, \"unit\": \"ms\"}, …}
  cargo xtask bench sdl -- large       pass words on to the bench";

/// Run a bench and print its figures
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The bench; without it, they are listed
    name: Option<String>,

    /// What to print on standard output
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,

    /// Words for the bench itself
    #[arg(last = true)]
    rest: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// What the bench prints, as it comes
    Text,
    /// The figures as one JSON object; the rest goes to standard error
    Json,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let Some(name) = &args.name else {
        for bench in BENCHES {
            println!("{:<10}{}", bench.name, bench.about);
        }
        return Ok(ExitCode::SUCCESS);
    };
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) else {
        let names: Vec<_> = BENCHES.iter().map(|bench| bench.name).collect();
        bail!("no bench named {name}; there are: {}", names.join(", "));
    };

    let mut command = cargo();
    command.args(["bench", "--locked", "--bench", bench.target]);
    if bench.package == "e2e" {
        // The program is measured as it is shipped, in a process of its own; what measures it is
        // built with the tests.
        command.env("PROVIDER_SERVICES", build(Profile::Release)?);
        command.args(["--workspace", "--profile", "dev"]);
    } else {
        command.args(["--package", bench.package]);
    }
    if !args.rest.is_empty() {
        command.arg("--").args(&args.rest);
    }
    announce(&command);
    let mut figures = Map::new();
    let mut twice = Vec::new();
    let status = each_line(&mut command, |line| {
        match args.output {
            Output::Text => println!("{line}"),
            Output::Json => eprintln!("{line}"),
        }
        if let Some((figure, value)) = figure_in(line)
            && figures.insert(figure.to_owned(), value).is_some()
        {
            twice.push(figure.to_owned());
        }
    })?;
    if !status.success() {
        bail!("the bench {name} failed");
    }
    if !twice.is_empty() {
        bail!("the bench {name} gave a figure twice: {}", twice.join(", "));
    }
    if figures.is_empty() {
        bail!("the bench {name} gave no figures: it should print lines `figure: value unit`");
    }
    if args.output == Output::Json {
        println!("{:#}", Value::Object(figures));
    }
    Ok(ExitCode::SUCCESS)
}

/// `parse one service: 41.5 us`
fn figure_in(line: &str) -> Option<(&str, Value)> {
    let (figure, rest) = line.trim().split_once(": ")?;
    let (value, unit) = rest.trim().split_once(' ')?;
    let value: Number = value.parse().ok()?;
    let unit = unit.trim();
    (!figure.is_empty() && !unit.is_empty())
        .then(|| (figure, json!({"value": value, "unit": unit})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_a_name_a_value_and_a_unit() {
        assert_eq!(
            figure_in("read: 41.5 us"),
            Some(("read", json!({"value": 41.5, "unit": "us"})))
        );
        assert_eq!(
            figure_in("  read, 12 services:  38000 documents/s"),
            Some(("read, 12 services", json!({"value": 38000, "unit": "documents/s"})))
        );
    }

    #[test]
    fn other_lines_are_no_figures() {
        for line in [
            "",
            "running 0 tests",
            "read: fast enough",
            "read: 12",
            "read:12 us",
            "note: 1.2.3 is out",
        ] {
            assert_eq!(figure_in(line), None, "{line}");
        }
    }

    #[test]
    fn no_two_benches_share_a_name() {
        for (index, bench) in BENCHES.iter().enumerate() {
            assert!(!BENCHES.iter().skip(index + 1).any(|other| other.name == bench.name));
        }
    }
}
