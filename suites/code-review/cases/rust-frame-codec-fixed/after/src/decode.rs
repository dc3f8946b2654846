use crate::Message;

/// Bytes in front of each payload.
const HEADER: usize = 3;

/// Why a frame is not a message.
#[derive(Debug, PartialEq, Eq)]
pub enum DecodeError {
    UnknownKind(u8),
    NotUtf8,
}

/// Puts frames together from the pieces that a socket delivers.
#[derive(Default)]
pub struct Decoder {
    buffer: Vec<u8>,
}

impl Decoder {
    /// Takes what was read. Call [`Decoder::next`] until it answers `None` before feeding more.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next message, or `None` if more bytes are needed.
    pub fn next(&mut self) -> Result<Option<Message>, DecodeError> {
        if self.buffer.len() < HEADER {
            return Ok(None);
        }
        let kind = self.buffer[0];
        let size = usize::from(u16::from_be_bytes(self.buffer[1..HEADER].try_into().unwrap()));
        if self.buffer.len() < HEADER + size {
            return Ok(None);
        }
        let payload = self.buffer[HEADER..HEADER + size].to_vec();
        self.buffer.drain(..HEADER + size);
        match kind {
            Message::PING => Ok(Some(Message::Ping)),
            Message::ACK => Ok(Some(Message::Ack)),
            Message::TEXT => Ok(Some(Message::Text(text(payload)?))),
            Message::HISTORY => {
                let lines = text(payload)?;
                Ok(Some(Message::History(lines.split_terminator('\n').map(str::to_owned).collect())))
            }
            other => Err(DecodeError::UnknownKind(other)),
        }
    }
}

fn text(payload: Vec<u8>) -> Result<String, DecodeError> {
    String::from_utf8(payload).map_err(|_| DecodeError::NotUtf8)
}
