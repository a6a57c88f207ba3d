//! Telling a client that its certificate is refused.
//!
//! In TLS 1.3 the client's handshake is over when its certificate arrives, and whether the account
//! has published it takes a question to the chain that no handshake callback can wait for. So the
//! server's handshake ends too, and the refusal is the alert `bad_certificate` after it, which is
//! all that clients ever saw of one. The library sends alerts of its own only; its cipher seals
//! this one.

use std::time::Duration;

use rustls::crypto::cipher::{OutboundChunks, OutboundPlainMessage};
use rustls::{
    AlertDescription, ConnectionTrafficSecrets, ContentType, ProtocolVersion, ServerConnection,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::server::TlsStream;

const FATAL: u8 = 2;
/// How long the client may take to read the alert.
const LINGER: Duration = Duration::from_secs(1);
/// How much of what it sent meanwhile is thrown away.
const LINGER_BYTES: u64 = 64 * 1024;

/// Sends `bad_certificate` and closes.
pub(super) async fn refuse<IO: AsyncRead + AsyncWrite + Unpin>(stream: TlsStream<IO>) {
    let (io, connection) = stream.into_inner();
    if let Some(record) = alert(connection, AlertDescription::BadCertificate) {
        // A client that is gone need not be told.
        let _gone = tokio::time::timeout(LINGER, tell(io, &record)).await;
    }
}

async fn tell<IO: AsyncRead + AsyncWrite + Unpin>(
    mut io: IO,
    record: &[u8],
) -> std::io::Result<()> {
    io.write_all(record).await?;
    io.shutdown().await?;
    // Closing with something unread would take the alert back.
    tokio::io::copy(&mut io.take(LINGER_BYTES), &mut tokio::io::sink()).await.map(drop)
}

/// The record of a fatal alert, the next one of the connection.
fn alert(connection: ServerConnection, description: AlertDescription) -> Option<Vec<u8>> {
    let suite = connection.negotiated_cipher_suite()?.tls13()?;
    let (sequence, secrets) = connection.dangerous_extract_secrets().ok()?.tx;
    let (key, iv) = match secrets {
        ConnectionTrafficSecrets::Aes128Gcm { key, iv }
        | ConnectionTrafficSecrets::Aes256Gcm { key, iv }
        | ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (key, iv),
        _ => return None,
    };
    let message = OutboundPlainMessage {
        typ: ContentType::Alert,
        version: ProtocolVersion::TLSv1_2,
        payload: OutboundChunks::Single(&[FATAL, description.into()]),
    };
    suite.aead_alg.encrypter(key, iv).encrypt(message, sequence).ok().map(|sealed| sealed.encode())
}
