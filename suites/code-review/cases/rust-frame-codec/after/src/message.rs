/// What travels over the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    Ping,
    Ack,
    /// A line of chat.
    Text(String),
    /// Earlier lines of chat, oldest first.
    History(Vec<String>),
}

impl Message {
    pub(crate) const PING: u8 = 1;
    pub(crate) const ACK: u8 = 2;
    pub(crate) const TEXT: u8 = 3;
    pub(crate) const HISTORY: u8 = 4;
}
