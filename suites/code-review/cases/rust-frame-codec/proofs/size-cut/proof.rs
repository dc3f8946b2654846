use control::{encode, Decoder, Message};

fn main() {
    let mut frame = Vec::new();
    let text = "x".repeat(65_540);
    if encode(&Message::Text(text.clone()), &mut frame).is_err() {
        assert!(frame.is_empty());
        return;
    }
    let mut decoder = Decoder::default();
    decoder.feed(&frame);
    let arrived = decoder.next();
    if arrived != Ok(Some(Message::Text(text))) {
        eprintln!("another message arrived than was sent");
        std::process::exit(1);
    }
}
