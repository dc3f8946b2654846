use crate::checksum::checksum;

/// All records up to the first that is incomplete or damaged.
pub fn read_all(mut journal: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    while journal.len() >= 8 {
        let (head, rest) = journal.split_at(8);
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        match rest.get(..length) {
            Some(payload) if checksum(payload) == sum => {
                records.push(payload.to_vec());
                journal = &rest[length..];
            }
            _ => break,
        }
    }
    records
}
