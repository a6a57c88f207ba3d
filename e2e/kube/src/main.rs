//! A bed to try things on by hand: `cargo run -p kube-bed -- control-plane`.

#![allow(clippy::print_stdout, reason = "this is for whoever started it")]

#[cfg(target_os = "linux")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    use kube_bed::Bed;

    let size = std::env::args().nth(1);
    let bed = match size.as_deref() {
        Some("api-server") => Bed::api_server().await?,
        Some("control-plane") => Bed::control_plane().await?,
        _ => anyhow::bail!("say which: api-server or control-plane"),
    };
    println!("export KUBECONFIG={}", bed.kubeconfig().display());
    println!("It ends with the input: Ctrl-D");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() -> anyhow::Result<()> {
    anyhow::bail!("beds are for Linux")
}
