/// What travels over the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    Ping,
    Ack,
}

impl Message {
    pub(crate) const PING: u8 = 1;
    pub(crate) const ACK: u8 = 2;
}
