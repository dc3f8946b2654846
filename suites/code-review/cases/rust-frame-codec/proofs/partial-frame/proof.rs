use control::{encode, Decoder, Message};

fn main() {
    let mut frame = Vec::new();
    encode(&Message::Text("hello".into()), &mut frame).unwrap();
    let outcome = std::panic::catch_unwind(|| {
        let mut decoder = Decoder::default();
        let mut arrived = Vec::new();
        for byte in &frame {
            decoder.feed(&[*byte]);
            while let Some(message) = decoder.next().unwrap() {
                arrived.push(message);
            }
        }
        arrived
    });
    match outcome {
        Ok(arrived) if arrived == [Message::Text("hello".into())] => {}
        _ => std::process::exit(1),
    }
}
