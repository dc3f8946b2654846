use crate::checksum::checksum;

/// All records up to the first that is incomplete or damaged, with their positions.
pub fn read_all(journal: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut records = Vec::new();
    let mut position = 0;
    while let Some((head, rest)) = journal.get(position..).and_then(|rest| rest.split_at_checked(8)) {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        match rest.get(..length) {
            Some(payload) if checksum(payload) == sum => {
                records.push((position as u64, payload.to_vec()));
                position += 8 + length;
            }
            _ => break,
        }
    }
    records
}
