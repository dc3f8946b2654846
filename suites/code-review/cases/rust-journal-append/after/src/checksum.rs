/// FNV-1a over the payload; detects accidents, not intent.
pub(crate) fn checksum(payload: &[u8]) -> u32 {
    payload.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
