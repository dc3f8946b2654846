// Marks that turn the direction of writing, and what cannot be seen, are shown by their numbers. The list is that of the terminal.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;
const plain = (text) => String(text).replace(hidden, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
