use std::ops::Deref;

const DIGITS: [u8; 16] = *b"0123456789abcdef";

/// A number as sixteen hexadecimal digits. Derefs to `str`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Hex {
    /// ASCII, always: only `new` fills it, and from `DIGITS`.
    digits: [u8; 16],
}

impl Hex {
    pub(crate) fn new(id: u64) -> Self {
        let mut digits = [0; 16];
        for (i, pair) in digits.chunks_exact_mut(2).enumerate() {
            let byte = (id >> (56 - 8 * i)) as u8;
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 0xf)];
        }
        Self { digits }
    }
}

impl Deref for Hex {
    type Target = str;

    fn deref(&self) -> &str {
        // SAFETY: `digits` holds sixteen ASCII digits, see the field, and ASCII is UTF-8.
        unsafe { std::str::from_utf8_unchecked(&self.digits) }
    }
}

impl std::fmt::Debug for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self)
    }
}
