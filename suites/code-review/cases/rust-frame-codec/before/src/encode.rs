use crate::Message;

/// The one byte that stands for a message.
pub fn encode(message: &Message) -> u8 {
    match message {
        Message::Ping => Message::PING,
        Message::Ack => Message::ACK,
    }
}

/// The message that a byte stands for.
pub fn decode(byte: u8) -> Option<Message> {
    match byte {
        Message::PING => Some(Message::Ping),
        Message::ACK => Some(Message::Ack),
        _ => None,
    }
}
