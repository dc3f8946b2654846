use crate::Message;

/// Why a message cannot be sent.
#[derive(Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// A line of history has a line break in it.
    LineBreak,
}

/// Appends the frame of a message to `out`.
pub fn encode(message: &Message, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let (kind, payload) = match message {
        Message::Ping => (Message::PING, Vec::new()),
        Message::Ack => (Message::ACK, Vec::new()),
        Message::Text(text) => (Message::TEXT, text.as_bytes().to_vec()),
        Message::History(lines) => {
            if lines.iter().any(|line| line.contains('\n')) {
                return Err(EncodeError::LineBreak);
            }
            (Message::HISTORY, lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>().into_bytes())
        }
    };
    let size = payload.len() as u16;
    out.push(kind);
    out.extend_from_slice(&size.to_be_bytes());
    out.extend_from_slice(&payload);
    Ok(())
}
