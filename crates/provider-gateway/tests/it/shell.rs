//! Commands in containers, over real sockets.

use futures_util::SinkExt;
use provider_api::query::ShellParams;
use provider_api::stream::{ClientFrame, CloseCode, ServerFrame, ShellResult};
use tokio_tungstenite::tungstenite::Message;

use crate::common::{
    World, case, lease,
    ws::{Frame, command, open, receive, replay},
};

async fn output(shell: &mut provider_api::client::Shell) -> (String, ShellResult) {
    let mut written = String::new();
    loop {
        match shell.output.next().await.unwrap().expect("no result") {
            ServerFrame::Stdout(bytes) | ServerFrame::Stderr(bytes) => {
                written.push_str(std::str::from_utf8(&bytes).unwrap());
            }
            ServerFrame::Result(result) => return (written, result),
            ServerFrame::Failure => panic!("failure"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conversations_go_as_recorded() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    for name in [
        "shell-scoped-logs-token",
        "shell-exit3",
        "shell-mtls",
        "shell-podindex-9",
        "shell-unknown-service",
    ] {
        replay(&world, name).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_without_a_replica_takes_no_command() {
    let world = World::start().await;
    let (mut manifest, sdl) = case("06-gpu");
    manifest.groups[0].services[0].image = "example/web:missing".to_owned();
    world.provider.lease(lease(9006), &manifest, sdl.groups());
    world.deploy(9006, &manifest).await;
    replay(&world, "shell-pending").await;
    // Nothing was written yet, which is no failure.
    replay(&world, "logs-pending-pod").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_reads_to_the_end_of_its_input() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let mut shell =
        world.client("full").shell(lease(9001), &command(&["cat"], true)).await.unwrap();
    // What is sent before the command runs is not lost either.
    for part in ["abc\n", "def\n"] {
        shell.input.send(&ClientFrame::Stdin(part.into())).await.unwrap();
    }
    shell.input.send(&ClientFrame::EndOfStdin).await.unwrap();
    let (written, result) = output(&mut shell).await;
    assert_eq!((written.as_str(), result), ("abc\ndef\n", ShellResult::default()));
    let end = shell.output.next().await.unwrap().unwrap_err();
    assert_eq!(end.code, Some(CloseCode::Done));
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_that_make_no_sense_change_nothing() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let path = "/lease/9001/1/1/shell?cmd0=cat&tty=0&service=web&stdin=1&podIndex=0";
    let mut socket = open(&world, path, "full").await.unwrap();
    for nonsense in [&b""[..], b"zzz", b"i\x00"] {
        socket.send(Message::Binary(nonsense.to_vec().into())).await.unwrap();
    }
    socket.send(Message::Text("h not binary".into())).await.unwrap();
    socket.send(Message::Binary(b"habc\n".to_vec().into())).await.unwrap();
    assert_eq!(receive(&mut socket).await, Frame::Received(2, b"dabc\n".to_vec()));
    // A client's farewell is answered with the same.
    let farewell = tokio_tungstenite::tungstenite::protocol::CloseFrame {
        code: 4321.into(),
        reason: "".into(),
    };
    socket.close(Some(farewell)).await.unwrap();
    let answer = Frame::Received(8, 4321_u16.to_be_bytes().to_vec());
    assert_eq!(receive(&mut socket).await, answer);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_success_is_told_as_none() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let client = world.client("full");
    let mut shell = client.shell(lease(424_242), &command(&["id"], false)).await.unwrap();
    let (_, result) = output(&mut shell).await;
    assert_eq!((result.exit_code, result.message.as_str()), (1, "kube: lease not found"));
    let mut shell = client.shell(lease(9001), &command(&["nope"], false)).await.unwrap();
    let (_, result) = output(&mut shell).await;
    assert_eq!(result.exit_code, 127);
    assert!(result.message.ends_with("because it does not exist"), "{}", result.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_has_the_size_that_it_is_told() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let params = ShellParams { tty: true, ..command(&["sh"], true) };
    let mut shell = world.client("full").shell(lease(9001), &params).await.unwrap();
    shell.input.send(&ClientFrame::Resize { width: 120, height: 40 }).await.unwrap();
    shell.input.send(&ClientFrame::Stdin("exit 7\n".into())).await.unwrap();
    let (written, result) = output(&mut shell).await;
    assert_eq!(result.exit_code, 7, "{written}");
    assert!(written.contains("SIMULATED"), "{written}");
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_chosen_by_their_place() {
    let world = World::start().await;
    world.run_case("02-two-services", 9002).await;
    let client = world.client("full");
    let mut names = Vec::new();
    for replica in [0, 1] {
        let params = ShellParams { replica, ..command(&["hostname"], false) };
        let mut shell = client.shell(lease(9002), &params).await.unwrap();
        let (written, result) = output(&mut shell).await;
        assert_eq!(result, ShellResult::default());
        names.push(written);
    }
    assert!(names[0] < names[1], "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("web-")), "{names:?}");
}
