//! Plays seeds of the simulation on all cores, and says what went wrong.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use provider_testkit::simulation::{Coverage, Defect, Options, Report, Violation, run};

const USAGE: &str = "\
usage: simulate [--seeds N] [--from S]   play N seeds, from S (200 from 0)
       simulate --seed S [--trace]       play one, and print every step
       simulate --defects [--seeds N]    every deliberate defect must be found within N seeds";

/// What the command line asks for.
#[derive(Default)]
struct Asked {
    seeds: Option<u64>,
    from: u64,
    seed: Option<u64>,
    trace: bool,
    defects: bool,
}

fn main() -> ExitCode {
    let asked = match asked() {
        Ok(asked) => asked,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    if let Some(seed) = asked.seed {
        return one(seed, asked.trace);
    }
    if asked.defects {
        return defects(asked.seeds.unwrap_or(8));
    }
    many(asked.from, asked.seeds.unwrap_or(200))
}

fn asked() -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse::<u64>().map_err(|_| format!("{word} needs a number, not {text:?}"))
        };
        match word.as_str() {
            "--seeds" => asked.seeds = Some(number()?),
            "--from" => asked.from = number()?,
            "--seed" => asked.seed = Some(number()?),
            "--trace" => asked.trace = true,
            "--defects" => asked.defects = true,
            other => return Err(format!("{other:?} is not understood")),
        }
    }
    Ok(asked)
}

fn one(seed: u64, trace: bool) -> ExitCode {
    let Some(report) = run(seed, Options::traced(trace)) else {
        eprintln!("the scenario of seed {seed} cannot be made");
        return ExitCode::FAILURE;
    };
    let Report { steps, orders, leases, crashes, digest, .. } = &report;
    println!("seed {seed}: {steps} steps, {orders} orders, {leases} leases, {crashes} crashes");
    println!("faults: {}", report.coverage.faults());
    println!("digest: {digest:016x}");
    tell(&report);
    if report.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tell(report: &Report) {
    for violation in &report.violations {
        let (seed, step, at) = (violation.seed, violation.step, violation.at.as_secs_f64());
        let (invariant, what) = (violation.invariant, &violation.what);
        println!(
            "violation of invariant {invariant} (seed {seed}, step {step}, {at:.1} s): {what}"
        );
    }
}

fn many(from: u64, seeds: u64) -> ExitCode {
    let begun = Instant::now();
    let reports = play(from, seeds, Options::default());
    let mut coverage = Coverage::default();
    let (mut steps, mut orders, mut leases, mut violations) = (0, 0, 0, 0);
    let (mut few, mut missing) = (0, seeds);
    for report in &reports {
        coverage.add(&report.coverage);
        (steps, orders, leases) =
            (steps + report.steps, orders + report.orders, leases + report.leases);
        violations += report.violations.len();
        missing -= 1;
        tell(report);
        let small = report.orders < 200 || report.steps < 5_000 || report.crashes < 20;
        if small && report.violations.is_empty() {
            few += 1;
            let Report { seed, orders, steps, crashes, .. } = report;
            println!("seed {seed} is too small: {orders} orders, {steps} steps, {crashes} crashes");
        }
    }
    println!("{coverage}");
    let empty = coverage.empty();
    for (stage, fault) in &empty {
        println!("never tried: {fault} while {stage}");
    }
    let took = begun.elapsed();
    println!("scenarios: {} ({orders} orders, {leases} leases)", reports.len());
    println!("steps: {steps}");
    println!("faults: {}", coverage.faults());
    println!("violations: {violations}");
    println!("empty cells: {}", empty.len());
    println!("time: {:.1} s", took.as_secs_f64());
    println!("simulation_steps_per_s: {:.0} steps/s", rate(steps, took.as_secs_f64()));
    // A few seeds cannot fill the table.
    let covered = empty.is_empty() || seeds < 200;
    if violations == 0 && few == 0 && missing == 0 && covered {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[allow(clippy::cast_precision_loss, reason = "a figure for people")]
fn rate(steps: u64, seconds: f64) -> f64 {
    steps as f64 / seconds.max(0.001)
}

/// Plays seeds on all cores; the reports in the order of the seeds.
fn play(from: u64, seeds: u64, options: Options) -> Vec<Report> {
    on_all_cores(from..from + seeds, |seed| run(seed, options)).into_iter().flatten().collect()
}

/// Whether every defect is found.
fn defects(seeds: u64) -> ExitCode {
    let found = on_all_cores(Defect::ALL, |defect| {
        let found = (0..seeds).find_map(|seed| {
            let report = run(seed, Options { defect: Some(defect), ..Options::default() })?;
            report.violations.into_iter().next()
        });
        (defect.name(), found)
    });
    for (name, found) in &found {
        match found {
            Some(Violation { invariant, seed, what, .. }) => {
                println!("{name}: found by invariant {invariant} (seed {seed}): {what}");
            }
            None => println!("{name}: NOT FOUND within {seeds} seeds"),
        }
    }
    let all = found.iter().all(|(_, found)| found.is_some());
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does something with each item, on as many threads as there are cores; the results in the order
/// of the items.
fn on_all_cores<T: Send, R: Send>(
    items: impl IntoIterator<Item = T, IntoIter: Send>,
    each: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items = Mutex::new(items.into_iter().enumerate());
    let results = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, item)) = items.lock().ok().and_then(|mut it| it.next()) {
                    let result = each(item);
                    if let Ok(mut results) = results.lock() {
                        results.push((index, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
