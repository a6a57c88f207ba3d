use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::*;

/// Long enough for bytes that are let through to show.
const SOON: Duration = Duration::from_millis(150);
/// Longer than anything takes by itself.
const LONG: Duration = Duration::from_secs(60);

/// A server that says everything back.
async fn echo() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                let _ = tokio::io::copy(&mut read, &mut write).await;
            });
        }
    });
    address
}

async fn said_back(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<Vec<u8>> {
    stream.write_all(bytes).await?;
    let mut back = vec![0; bytes.len()];
    stream.read_exact(&mut back).await?;
    Ok(back)
}

async fn setup() -> (Proxy, TcpStream) {
    let proxy = Proxy::start(echo().await).await.unwrap();
    let stream = TcpStream::connect(proxy.address()).await.unwrap();
    (proxy, stream)
}

#[tokio::test]
async fn bytes_and_the_end_pass() {
    let (proxy, mut stream) = setup().await;
    assert_eq!(said_back(&mut stream, b"hello").await.unwrap(), b"hello");
    stream.shutdown().await.unwrap();
    assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
    assert_eq!(proxy.accepted(), 1);
}

#[tokio::test]
async fn a_blackhole_keeps_bytes_and_the_end_until_it_passes_again() {
    for held in [None, Some(Direction::ToServer), Some(Direction::ToClient)] {
        let (proxy, mut stream) = setup().await;
        assert_eq!(said_back(&mut stream, b"one").await.unwrap(), b"one");
        proxy.set_open(Mode::Blackhole(held));
        let silent = timeout(SOON, said_back(&mut stream, b"two")).await;
        assert!(silent.is_err(), "{held:?}: {silent:?}");
        // A new connection works: only those that were open are forgotten.
        let mut fresh = TcpStream::connect(proxy.address()).await.unwrap();
        assert_eq!(said_back(&mut fresh, b"new").await.unwrap(), b"new");
        proxy.set(Mode::Pass);
        let mut back = [0; 3];
        stream.read_exact(&mut back).await.unwrap();
        assert_eq!(&back, b"two");
    }
}

#[tokio::test]
async fn reset_and_refused_connections_fail() {
    let (proxy, mut stream) = setup().await;
    assert_eq!(said_back(&mut stream, b"one").await.unwrap(), b"one");
    proxy.set(Mode::Refuse);
    assert_eq!(said_back(&mut stream, b"two").await.unwrap(), b"two");
    let refused = TcpStream::connect(proxy.address()).await;
    let refused = match refused {
        Ok(mut stream) => said_back(&mut stream, b"x").await.is_err(),
        Err(_) => true,
    };
    assert!(refused);
    proxy.set(Mode::Reset);
    assert!(timeout(LONG, said_back(&mut stream, b"three")).await.unwrap().is_err());
}

#[tokio::test]
async fn chopped_and_delayed_bytes_arrive_whole() {
    let (proxy, mut stream) = setup().await;
    let bytes: Vec<u8> = (0..20_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    proxy.set(Mode::Chop { seed: 7 });
    assert_eq!(said_back(&mut stream, &bytes).await.unwrap(), bytes);
    proxy.set(Mode::Delay(Duration::from_millis(30)));
    let start = tokio::time::Instant::now();
    assert_eq!(said_back(&mut stream, b"late").await.unwrap(), b"late");
    assert!(start.elapsed() >= Duration::from_millis(60));
}

#[test]
fn chance_repeats_itself_for_a_seed() {
    let draw = |seed| {
        let mut chance = seeded::Seeded::new(seed);
        [(); 8].map(|()| chance.below(1000))
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    assert!(draw(3).iter().all(|number| *number < 1000));
}
