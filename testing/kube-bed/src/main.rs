//! A bed to try things on by hand: `cargo run -p kube-bed -- control-plane`.

#![allow(clippy::print_stdout, reason = "this is for whoever started it")]

#[cfg(target_os = "linux")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    use kube_bed::{Bed, Node};

    match std::env::args().nth(1).as_deref() {
        Some("api-server") => stand(&Bed::api_server().await?),
        Some("control-plane") => stand(&Bed::control_plane().await?),
        Some("node") => stand(&*Node::start().await?),
        _ => anyhow::bail!("say which: api-server, control-plane or node"),
    }
}

#[cfg(target_os = "linux")]
fn stand(bed: &kube_bed::Bed) -> anyhow::Result<()> {
    println!("export KUBECONFIG={}", bed.kubeconfig().display());
    println!("It ends with its input: Ctrl-D");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("beds are for Linux")
}
