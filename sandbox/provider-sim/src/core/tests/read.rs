//! What tenants read.

use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::{
    ExecFailure, ExecInput, LogPart, LogQuery, Missing, Phase, ReadFailure, ServiceChoice,
};
use provider_engine::cluster::view::Condition;

use super::super::{LogCursor, ShellOutput};
use super::support::*;

#[test]
fn bad_images_say_what_is_wrong() {
    for (image, why, exit) in [
        ("web:missing", "image \"web:missing\" cannot be pulled: it does not exist", None),
        ("web:crash", "the program exited with code 1; started again 0 times", Some(1)),
        (
            "web:oom",
            "out of memory: the container used more than its limit; started again 0 times",
            Some(137),
        ),
    ] {
        let mut bench = Bench::new(SMALL);
        bench.deploy(&workload(1, vec![service("web", image, 1)]));
        while !matches!(bench.conditions(1)[..], [Condition::Failing(_)]) {
            assert!(bench.seconds < 60, "{image}");
            bench.pass(1);
        }
        assert_eq!(bench.conditions(1), [&Condition::Failing(why.to_owned())]);
        let status = bench.cluster.service(lease(1), "web").unwrap();
        assert_eq!((status.phase, status.why.as_deref()), (Phase::Failing, Some(why)));
        assert_eq!(status.last_exit.map(|exit| exit.code), exit, "{image}");
        bench.pass(200);
        assert_eq!(bench.of(1).replicas[0].restarts > 0, exit.is_some());
    }
    let mut bench = Bench::new(SMALL);
    let refused = bench.run(Operation::Hold(workload(1, vec![service("w", "refused", 1)])));
    assert!(matches!(refused, Err(CommandFailure::Refused(_))));
    assert_eq!(bench.seen.leases.len(), 0);
}

#[test]
fn logs_are_read_once_and_through_restarts() {
    let mut bench = Bench::new(SMALL);
    bench.deploy(&workload(1, vec![service("web", "web:crash-long", 1)]));
    while !matches!(bench.conditions(1)[..], [Condition::Ready]) {
        bench.pass(1);
    }
    let query = LogQuery { follow: true, ..LogQuery::default() };
    let mut cursor = LogCursor::new(&bench.cluster, lease(1), query).unwrap();
    let mut parts = cursor.read(&bench.cluster).unwrap();
    bench.pass(40);
    while cursor.has_more() || parts.len() < 60 {
        parts.extend(cursor.read(&bench.cluster).unwrap());
        bench.pass(20);
        assert!(bench.seconds < 1000, "{}", parts.len());
    }
    let mut line = String::new();
    let (mut lines, mut breaks) = (vec![], 0);
    for part in parts {
        match part {
            LogPart::Text { text, continues, .. } => {
                line += &text;
                if !continues {
                    lines.push(std::mem::take(&mut line));
                }
            }
            LogPart::Break { .. } => breaks += 1,
        }
    }
    assert!(lines[0].starts_with("SIMULATED workload web-"), "{}", lines[0]);
    assert_eq!(lines[1].len(), 1 << 20);
    let ends = lines.iter().filter(|line| line.starts_with("simulated end")).count();
    let starts = lines.iter().filter(|line| line.starts_with("SIMULATED")).count();
    assert!(ends >= 1 && breaks >= 1 && starts == breaks + 1, "{starts} {ends} {breaks}");
    assert!(!cursor.is_done());

    let tail = bench.logs(1, LogQuery { tail: Some(1), ..LogQuery::default() });
    assert_eq!(tail.len(), 1);
    let previous = bench.logs(1, LogQuery { previous: true, ..LogQuery::default() });
    let LogPart::Text { text, .. } = previous.last().unwrap() else { panic!() };
    assert_eq!(text, "simulated end: the program exited with code 1");
    let unknown = ServiceChoice::Named(vec!["nobody".to_owned()]);
    let query = LogQuery { services: unknown, ..LogQuery::default() };
    let failure = LogCursor::new(&bench.cluster, lease(1), query).unwrap_err();
    assert_eq!(failure, ReadFailure::NotFound(Missing::Service("nobody".to_owned())));
}

#[test]
fn shells_answer() {
    let mut bench = Bench::new(SMALL);
    let mut web = service("web", "nginx", 1);
    web.env = Some(vec!["NAME=value".to_owned()]);
    bench.deploy(&workload(1, vec![web]));
    assert!(matches!(bench.exec(1, &["true"]), Err(ExecFailure::NotRunning(_))));
    bench.pass(60);
    let out = |text: &str| ShellOutput::Stdout(text.as_bytes().to_vec());
    let err = |text: &str| ShellOutput::Stderr(text.as_bytes().to_vec());
    for (command, expected) in [
        (
            &["sh", "-c", "echo out; echo err >&2; exit 3"][..],
            vec![out("out\n"), err("err\n"), ShellOutput::Exit(3)],
        ),
        (&["true"], vec![ShellOutput::Exit(0)]),
        (&["false"], vec![ShellOutput::Exit(1)]),
        (&["env"], vec![out("NAME=value\n"), ShellOutput::Exit(0)]),
        (&["sh", "-c", "false && echo a || echo b"], vec![out("b\n"), ShellOutput::Exit(0)]),
        (
            &["sh", "-c", "nonsense"],
            vec![err("sh: nonsense: not found (simulated)\n"), ShellOutput::Exit(127)],
        ),
    ] {
        assert_eq!(bench.exec(1, command).unwrap().1, expected, "{command:?}");
    }
    let (mut cat, said) = bench.exec(1, &["cat"]).unwrap();
    assert_eq!(said, []);
    assert_eq!(cat.feed(ExecInput::Stdin(b"abc".to_vec())), [out("abc")]);
    assert_eq!(cat.feed(ExecInput::EndOfStdin), [ShellOutput::Exit(0)]);
    assert!(cat.has_ended());
    let console = "command -v bash >/dev/null 2>&1 && exec bash || exec sh";
    let (mut shell, said) = bench.exec(1, &["sh", "-c", console]).unwrap();
    assert_eq!(said, []);
    assert_eq!(shell.feed(ExecInput::Stdin(b"echo h".to_vec())), []);
    assert_eq!(shell.feed(ExecInput::Stdin(b"i\n".to_vec())), [out("hi\n")]);
    assert_eq!(shell.feed(ExecInput::Stdin(b"exit 4\n".to_vec())), [ShellOutput::Exit(4)]);
    assert!(bench.cluster.still_runs(&shell));
    let missing = bench.exec(1, &["no-such-program"]).unwrap_err();
    assert_eq!(missing, ExecFailure::NoSuchCommand("no-such-program".to_owned()));
}
