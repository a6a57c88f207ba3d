//! The first five minutes, as a stranger has them.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use e2e::network::wait_until;
use e2e::program::{self, Process};

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);

/// The program's surroundings: nothing of ours but where programs are.
fn variables() -> Vec<(&'static str, String)> {
    let ours = |name, value: &str| (name, value.to_owned());
    vec![
        ("PATH", std::env::var("PATH").unwrap()),
        // What a user of the real network has set must neither disturb nor be touched.
        ours("AP_HOME", "/nonexistent/home"),
        ours("AKASH_NODE", "http://127.0.0.1:9"),
        ours("AKASH_GRPC_ADDR", "127.0.0.1:9"),
        ours("AP_PROVIDER", "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8"),
    ]
}

fn borrowed<'a>(variables: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    variables.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// A quickstart that goes on, and all that it printed.
fn going_on(home: Option<&Path>, log: &Path) -> (Process, Vec<String>) {
    let mut args = vec!["quickstart"];
    if let Some(home) = home {
        args.extend(["--home", home.to_str().unwrap()]);
    }
    let variables = variables();
    let process = Process::start(&args, &borrowed(&variables), log).unwrap();
    let said = wait_until("it shows what to try", LONG, || {
        let said = std::fs::read_to_string(log)?;
        Ok(said.contains("Ctrl-C ends it all").then_some(said))
    });
    (process, said.unwrap().lines().map(str::to_owned).collect())
}

/// The lines that are to be copied: the one to begin with, and the others.
fn printed(lines: &[String]) -> (String, Vec<String>) {
    let mut lines = lines.iter().skip_while(|line| !line.starts_with("To try in another"));
    let prepare = lines.nth(1).unwrap().trim().to_owned();
    let lines = lines.take_while(|line| !line.starts_with("The provider's log"));
    let commands = lines.filter(|line| line.starts_with("  ") && !line.starts_with("  #"));
    (prepare, commands.map(|line| line.trim().to_owned()).collect())
}

/// Runs lines in a new shell, in a folder that has nothing to do with it.
fn shell(script: &str) -> (bool, String) {
    let output = Command::new("sh")
        .args(["-c", script])
        .env_clear()
        .envs(variables())
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.success(), format!("{all}({})", output.status))
}

#[test]
fn once_verifies_everything_and_leaves_nothing() {
    let variables = variables();
    let output = program::command(&["quickstart", "--once"], &borrowed(&variables)).unwrap();
    let output = { output }.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{stdout}{stderr}");
    for wanted in ["SIMULATED", "✓ earned ", "deploy --close ", "nothing is left behind"] {
        assert!(stderr.contains(wanted), "{wanted}: {stderr}");
    }
    assert!(stdout.contains("SIMULATED"), "{stdout}");
    assert!(!stderr.contains('\u{1b}') && !stdout.contains('\u{1b}'), "colours without a terminal");
    let (prepare, commands) = printed(&stdout.lines().map(str::to_owned).collect::<Vec<_>>());
    for command in &commands {
        assert!(stderr.contains(&format!("✓ {command}\n")), "{command} was not tried: {stderr}");
    }
    let env = PathBuf::from(prepare.strip_prefix(". ").unwrap());
    assert!(!env.parent().unwrap().exists(), "{} is left", env.display());
}

#[test]
fn what_is_printed_works_from_another_terminal_until_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let (mut process, lines) = going_on(None, &log);
    let (prepare, commands) = printed(&lines);
    for wanted in ["lease-status", "lease-logs", "lease-shell", "update", "--close", "ctl why"] {
        assert!(commands.iter().any(|line| line.contains(wanted)), "{wanted}: {commands:?}");
    }
    for command in &commands {
        let (good, said) = shell(&format!("{prepare}\n{command}"));
        assert!(good, "{command}: {said}");
        assert!(!said.starts_with('('), "{command} says nothing");
    }
    process.signal("INT").unwrap();
    let status = process.wait().unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(status.success(), "{said}");
    assert!(said.contains("nothing is left behind"), "{said}");
    let env = PathBuf::from(prepare.strip_prefix(". ").unwrap());
    assert!(!env.parent().unwrap().exists(), "{} is left", env.display());
}

#[test]
fn a_home_keeps_its_lease_and_taken_ports_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (home, log) = (folder.path().join("home"), folder.path().join("log"));
    let running = |lines: &[String]| {
        let line = lines.iter().find(|line| line.starts_with("Deployment ")).unwrap().clone();
        line.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
    };
    let (mut process, lines) = going_on(Some(&home), &log);
    let first = running(&lines);
    // A stream that is open at the end is told that the provider stops, as by `run` (1001).
    let (prepare, commands) = printed(&lines);
    let logs = commands.iter().find(|line| line.contains("lease-logs")).unwrap();
    let followed = folder.path().join("followed");
    let mut follower = Command::new("sh")
        .args(["-c", &format!("{prepare}\nexec {logs} --follow")])
        .env_clear()
        .envs(variables())
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&followed).unwrap())
        .stderr(std::fs::File::create(folder.path().join("told")).unwrap())
        .spawn()
        .unwrap();
    wait_until("a line is followed", LONG, || {
        Ok((std::fs::metadata(&followed)?.len() > 0).then_some(()))
    })
    .unwrap();
    process.signal("INT").unwrap();
    assert!(process.wait().unwrap().success());
    follower.wait().unwrap();
    let told = std::fs::read_to_string(folder.path().join("told")).unwrap();
    assert!(told.contains("the provider stops; connect again"), "{told}");
    assert!(std::fs::read_to_string(&log).unwrap().contains("its state is kept in"));

    // If somebody else has it already, it is taken all the same.
    let _taken = TcpListener::bind("127.0.0.1:8443");
    let second_log = folder.path().join("second");
    let (mut process, lines) = going_on(Some(&home), &second_log);
    assert_eq!(running(&lines), first, "the lease of before is found again");
    let said = std::fs::read_to_string(&second_log).unwrap();
    assert!(said.contains("port 8443 is in use: the provider takes "), "{said}");
    process.signal("TERM").unwrap();
    assert!(process.wait().unwrap().success());
}

#[test]
fn the_script_is_one_that_a_shell_can_run() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../quickstart");
    let (good, said) = shell(&format!("sh -n {} && test -x {0}", script.display()));
    assert!(good, "{said}");
    let text = std::fs::read_to_string(script).unwrap();
    assert!(text.contains(r#"exec "$program" quickstart "$@""#), "{text}");
}
