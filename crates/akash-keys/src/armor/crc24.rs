//! The checksum of OpenPGP's armor (RFC 4880, section 6.1).

/// The checksum of `data`.
pub(super) fn of(data: &[u8]) -> [u8; 3] {
    const INIT: u32 = 0x00b7_04ce;
    const POLYNOMIAL: u32 = 0x0186_4cfb;
    let crc = data.iter().fold(INIT, |crc, byte| {
        (0..8).fold(crc ^ (u32::from(*byte) << 16), |crc, _| {
            let shifted = crc << 1;
            if shifted & 0x0100_0000 == 0 { shifted } else { shifted ^ POLYNOMIAL }
        })
    });
    let [_, checksum @ ..] = crc.to_be_bytes();
    checksum
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        assert_eq!(super::of(b"123456789"), [0x21, 0xcf, 0x02]);
        assert_eq!(super::of(b""), [0xb7, 0x04, 0xce]);
    }
}
