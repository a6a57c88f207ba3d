use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use provider_engine::order::pricing::{ScriptFailure, ScriptRequest};

use super::*;

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, text: &str) -> PathBuf {
        let path = self.path("price.sh");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

fn settings(path: PathBuf) -> ScriptSettings {
    ScriptSettings::new(path, environment(std::env::vars_os(), &[]))
}

fn request() -> ScriptRequest {
    let environment =
        [("AKASH_OWNER", "akash1owner".to_owned()), ("AKASH_DENOM", "uakt".to_owned())];
    ScriptRequest { stdin: "{\"resources\":[]}\n".to_owned(), environment }
}

async fn run(settings: ScriptSettings) -> Ran {
    let limit = settings.time_limit + settings.patience + Duration::from_secs(10);
    let scripts = Scripts::new(settings);
    tokio::time::timeout(limit, scripts.ask(request())).await.expect("there is always an answer")
}

fn failed(ran: &Ran) -> (&str, &str) {
    match &ran.result {
        Err(ScriptFailure::Failed { status, stderr }) => (status, stderr),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn it_reads_the_request_and_its_output_is_the_answer() {
    let fixture = Fixture::new();
    let script = fixture.script("cat; echo \"$AKASH_OWNER $AKASH_DENOM\"; echo note >&2");
    let ran = run(settings(script)).await;
    let expected = b"{\"resources\":[]}\nakash1owner uakt\n".to_vec();
    assert_eq!(ran.result, Ok(expected));
    assert_eq!(ran.stderr, "note");
}

#[tokio::test]
async fn it_sees_only_the_variables_it_is_given() {
    let fixture = Fixture::new();
    let script = fixture.script("env | cut -d= -f1 | grep -vE '^(PWD|SHLVL|_|OLDPWD)$' | sort");
    let given = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
    let ran = run(ScriptSettings::new(script, given)).await;
    let output = String::from_utf8(ran.result.unwrap()).unwrap();
    assert_eq!(output, "AKASH_DENOM\nAKASH_OWNER\nPATH\n");
}

#[tokio::test]
async fn one_that_does_not_read_its_input_may_answer() {
    let fixture = Fixture::new();
    let mut request = request();
    request.stdin = "x".repeat(1 << 20);
    let scripts = Scripts::new(settings(fixture.script("exec 0<&-; echo 5")));
    assert_eq!(scripts.ask(request).await.result, Ok(b"5\n".to_vec()));
}

#[tokio::test]
async fn an_exit_code_other_than_zero_is_a_failure_with_its_complaint() {
    let fixture = Fixture::new();
    let ran =
        run(settings(fixture.script("echo 5; echo 'not on the whitelist' >&2; exit 3"))).await;
    assert_eq!(failed(&ran), ("exit code 3", "not on the whitelist"));
    assert_eq!(ran.stderr, "not on the whitelist");
    let ran = run(settings(fixture.script("kill -TERM $$"))).await;
    assert_eq!(failed(&ran), ("signal 15", ""));
}

#[tokio::test]
async fn one_that_takes_too_long_is_killed_with_its_children() {
    let fixture = Fixture::new();
    let (leader, child) = (fixture.path("leader"), fixture.path("child"));
    let (its_pid, childs_pid) = (leader.display(), child.display());
    let text =
        format!("trap '' TERM; echo $$ >{its_pid}; sleep 60 & echo $! >{childs_pid}; sleep 60");
    let mut settings = settings(fixture.script(&text));
    settings.time_limit = Duration::from_secs(1);
    let ran = run(settings).await;
    assert_eq!(ran.result, Err(ScriptFailure::TimedOut));
    assert!(ran.took < Duration::from_secs(30), "{:?}", ran.took);
    dies(&leader).await;
    dies(&child).await;
}

#[tokio::test]
async fn one_that_closes_its_output_and_stays_is_killed_too() {
    let fixture = Fixture::new();
    let mut settings = settings(fixture.script("exec 1>&- 2>&-; sleep 60"));
    settings.time_limit = Duration::from_millis(400);
    assert_eq!(run(settings).await.result, Err(ScriptFailure::TimedOut));
}

#[tokio::test]
async fn what_it_leaves_behind_is_killed_and_holds_nothing_up() {
    let fixture = Fixture::new();
    let child = fixture.path("child");
    let text = format!("sleep 60 & echo $! >{}; echo 7", child.display());
    // Had it waited for the child, it would have timed out.
    assert_eq!(run(settings(fixture.script(&text))).await.result, Ok(b"7\n".to_vec()));
    dies(&child).await;
}

#[tokio::test]
async fn what_leaves_its_group_holds_nothing_up_either() {
    let fixture = Fixture::new();
    let ran = run(settings(fixture.script("setsid sleep 15 & echo 7"))).await;
    assert_eq!(ran.result, Ok(b"7\n".to_vec()));
}

#[tokio::test]
async fn endless_output_ends_it() {
    let fixture = Fixture::new();
    let ran = run(settings(fixture.script("echo why >&2; exec yes"))).await;
    assert_eq!(failed(&ran).0, "more than 65536 bytes of output");
}

#[tokio::test]
async fn output_up_to_the_limit_is_taken() {
    let fixture = Fixture::new();
    let ran = run(settings(fixture.script("head -c 65536 /dev/zero"))).await;
    assert_eq!(ran.result.unwrap().len(), 65_536);
    let ran = run(settings(fixture.script("head -c 65537 /dev/zero"))).await;
    assert_eq!(failed(&ran).0, "more than 65536 bytes of output");
}

#[tokio::test]
async fn of_many_complaints_the_last_are_kept() {
    let fixture = Fixture::new();
    let script = fixture.script("yes complaint | head -c 1000000 >&2; echo last >&2; exit 1");
    let ran = run(settings(script)).await;
    let (_, stderr) = failed(&ran);
    assert!(stderr.len() <= 4_096 && stderr.ends_with("last"), "{} bytes", stderr.len());
}

#[tokio::test]
async fn what_cannot_be_run_is_said_with_advice() {
    let fixture = Fixture::new();
    let plain = fixture.path("plain");
    fs::write(&plain, "#!/bin/sh\necho 1\n").unwrap();
    let broken = fixture.path("broken");
    fs::write(&broken, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&broken, fs::Permissions::from_mode(0o755)).unwrap();
    for (path, advice) in [
        (fixture.path("missing"), "must be there"),
        (plain, "chmod +x"),
        (broken, "interpreter"),
        (fixture.folder.path().to_owned(), "chmod +x"),
    ] {
        let ran = run(settings(path.clone())).await;
        let Err(ScriptFailure::NotRun(why)) = ran.result else { panic!("{path:?}: {ran:?}") };
        assert!(why.contains(advice) && why.contains(&*path.to_string_lossy()), "{why}");
    }
}

/// Runs `count` at once.
async fn together(settings: ScriptSettings, count: usize) -> Vec<Ran> {
    let scripts = Scripts::new(settings);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..count {
        let scripts = scripts.clone();
        tasks.spawn(async move { scripts.ask(request()).await });
    }
    tasks.join_all().await
}

/// Counts those that run while it does.
fn counting(fixture: &Fixture) -> PathBuf {
    let running = fixture.path("running");
    fs::create_dir(&running).unwrap();
    let folder = running.display();
    fixture.script(&format!("touch {folder}/$$; sleep 0.3; ls {folder} | wc -l; rm {folder}/$$"))
}

fn printed(ran: &Ran) -> usize {
    let stdout = ran.result.as_ref().unwrap();
    std::str::from_utf8(stdout).unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn no_more_run_at_once_than_are_allowed() {
    let fixture = Fixture::new();
    let mut settings = settings(counting(&fixture));
    settings.processes = 2;
    let ran = together(settings, 6).await;
    let most = ran.iter().map(printed).max().unwrap();
    assert!((1..=2).contains(&most), "{most} at once");
}

#[tokio::test]
async fn whoever_waits_too_long_for_a_turn_gets_no_price() {
    let fixture = Fixture::new();
    let mut settings = settings(fixture.script("sleep 2; echo 1"));
    (settings.processes, settings.patience) = (1, Duration::from_millis(50));
    let ran = together(settings, 3).await;
    let (good, bad): (Vec<_>, Vec<_>) = ran.iter().partition(|ran| ran.result.is_ok());
    assert_eq!((good.len(), bad.len()), (1, 2));
    for ran in bad {
        assert!(matches!(&ran.result, Err(ScriptFailure::NotRun(why)) if why.contains("1 run")));
    }
}

#[tokio::test]
async fn giving_up_on_the_answer_ends_the_script() {
    let fixture = Fixture::new();
    let leader = fixture.path("leader");
    let text = format!("echo $$ >{}; exec sleep 60", leader.display());
    let mut settings = settings(fixture.script(&text));
    settings.time_limit = Duration::from_secs(60);
    let scripts = Scripts::new(settings);
    let task = tokio::spawn(async move { scripts.ask(request()).await });
    pid(&leader).await;
    task.abort();
    dies(&leader).await;
}

#[tokio::test]
async fn an_order_takes_the_place_of_screening_which_never_waits() {
    let fixture = Fixture::new();
    let leader = fixture.path("leader");
    let text = format!("[ -e {0} ] && exec echo 7; echo $$ >{0}; exec sleep 60", leader.display());
    let mut settings = settings(fixture.script(&text));
    (settings.processes, settings.time_limit) = (1, Duration::from_secs(60));
    let scripts = Scripts::new(settings);
    let first = scripts.clone();
    let first = tokio::spawn(async move { first.screen(request()).await });
    pid(&leader).await;
    assert_eq!(scripts.screen(request()).await, None, "there is no place");
    assert_eq!(scripts.ask(request()).await.result, Ok(b"7\n".to_vec()));
    assert_eq!(first.await.unwrap(), None, "its place was wanted");
    dies(&leader).await;
}

#[tokio::test]
async fn screening_leaves_most_places_to_orders() {
    let fixture = Fixture::new();
    let mut settings = settings(fixture.script("exec sleep 60"));
    (settings.processes, settings.time_limit) = (8, Duration::from_secs(60));
    let scripts = Scripts::new(settings);
    let mut screenings: Vec<_> = (0..8).map(|_| Box::pin(scripts.screen(request()))).collect();
    let mut refused = 0;
    for screening in &mut screenings {
        refused += usize::from(futures_util::poll!(screening).is_ready());
    }
    assert_eq!(refused, 6);
}

/// The process id that a script writes into a file.
async fn pid(file: &Path) -> u32 {
    for _ in 0..1_000 {
        if let Ok(pid) = fs::read_to_string(file).unwrap_or_default().trim().parse() {
            return pid;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} never came", file.display());
}

/// That the process whose id is in a file ends soon. Its parent may be slow to notice.
async fn dies(file: &Path) {
    let pid = pid(file).await;
    for _ in 0..1_000 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        if matches!(state, None | Some('Z' | 'X')) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {pid} of {} goes on", file.display());
}

const GUIDE: &str = include_str!("../../../../docs/price-script.md");

#[test]
fn secrets_stay_and_prices_pass() {
    let all = [
        ("PATH", "/bin"),
        ("AKASH_KEY_PASSWORD", "x"),
        ("AP_KEYRING_BACKEND", "x"),
        ("KUBECONFIG", "x"),
        ("CF_DNS_API_TOKEN", "x"),
        ("PRICE_TARGET_CPU", "1.60"),
        ("PRICE_TARGET_GPU_MAPPINGS", "a100=950"),
        ("WHITELIST_URL", "https://x"),
        ("LC_ALL", "C"),
        ("MY_RATE", "2"),
        ("MY_SECRET", "x"),
        ("LD_PRELOAD", "x"),
    ];
    let all = all.map(|(name, value)| (name.into(), value.into()));
    let passed = environment(all, &["MY_RATE".to_owned()]);
    let names: Vec<_> = passed.iter().map(|(name, _)| name.to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "PATH",
            "PRICE_TARGET_CPU",
            "PRICE_TARGET_GPU_MAPPINGS",
            "WHITELIST_URL",
            "LC_ALL",
            "MY_RATE"
        ]
    );
}

#[test]
fn the_guide_names_all_of_them() {
    for name in PASSED.iter().chain(&PREFIXES) {
        assert!(GUIDE.contains(&format!("`{name}")), "{name} is not in docs/price-script.md");
    }
}
