// Text as it may be shown: what would turn the direction of writing, and what cannot be seen, by its number. These are the
// characters that terminals are not sent either, but for line breaks and tabs, which a page shows as such.
const visible = (text) =>
  String(text).replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu,
    (c) => `\\u{${c.codePointAt(0).toString(16)}}`,
  );
