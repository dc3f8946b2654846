use crate::{names, Sample};

/// The shortest sample: a name of one byte with its length, and a value.
const SHORTEST: usize = 1 + 1 + 8;

/// Why a packet cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketError {
    Truncated,
    NoName,
    NotUtf8,
    NotFinite,
    /// Bytes follow the last sample.
    TooLong,
}

/// Reads what an agent sends: the number of samples as two bytes, and for each of them a byte with the length of its name, the name,
/// and the value as a double of eight bytes. Numbers begin with their highest byte.
pub fn decode(packet: &[u8]) -> Result<Vec<Sample>, PacketError> {
    let (head, mut rest) = packet.split_first_chunk::<2>().ok_or(PacketError::Truncated)?;
    let count = usize::from(u16::from_be_bytes(*head));
    if count > rest.len() / SHORTEST {
        return Err(PacketError::Truncated);
    }
    let mut samples = Vec::with_capacity(count);
    for _ in 0..count {
        let (name, value, behind) = split_sample(rest)?;
        samples.push((name, value));
        rest = behind;
    }
    if !rest.is_empty() {
        return Err(PacketError::TooLong);
    }
    Ok(samples.into_iter().map(|(name, value)| Sample { name: names::intern(name), value }).collect())
}

/// Name and value of the first sample, and the bytes behind it.
fn split_sample(bytes: &[u8]) -> Result<(&str, f64, &[u8]), PacketError> {
    let (&length, rest) = bytes.split_first().ok_or(PacketError::Truncated)?;
    if length == 0 {
        return Err(PacketError::NoName);
    }
    let (name, rest) = rest.split_at_checked(usize::from(length)).ok_or(PacketError::Truncated)?;
    let name = std::str::from_utf8(name).map_err(|_| PacketError::NotUtf8)?;
    let (value, rest) = rest.split_first_chunk::<8>().ok_or(PacketError::Truncated)?;
    let value = f64::from_be_bytes(*value);
    if value.is_finite() {
        Ok((name, value, rest))
    } else {
        Err(PacketError::NotFinite)
    }
}
