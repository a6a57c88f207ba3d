//! Random bytes from the operating system.

use zeroize::Zeroizing;

/// As many random bytes as asked for, wiped when dropped.
pub fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, RandomError> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(bytes.as_mut_slice()).map_err(RandomError)?;
    Ok(bytes)
}

/// The operating system gave no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("could not get random bytes from the operating system")]
pub struct RandomError(#[source] getrandom::Error);
