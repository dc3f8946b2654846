import assert from "node:assert/strict";
import { test } from "node:test";

import { createNote } from "../src/notes.js";
import { highlight, search } from "../src/search.js";

const notes = [
  createNote({ id: 1, title: "C++ (draft)", body: "pointers & references", tags: ["code"] }),
  createNote({ id: 2, title: "Übung", body: "code of conduct" }),
];

function found(query) {
  return search(notes, query).map((note) => note.id);
}

test("words, fields and signs", () => {
  assert.deepEqual(found("code"), [2]);
  assert.deepEqual(found("tag:code"), [1]);
  assert.deepEqual(found("c++ (dr"), [1]);
  assert.deepEqual(found("ÜBUNG"), [2]);
  assert.deepEqual(found("of: x"), []);
  assert.deepEqual(found(""), [1, 2]);
});

test("any sign can be looked for", () => {
  for (const sign of "\\^$.*+?()[]{}|/-:#&~ ") {
    assert.equal(typeof highlight(`a${sign}b`, sign), "string");
    search(notes, sign);
  }
});

test("marks", () => {
  assert.equal(highlight("<b> & B", "b"), "&lt;<mark>b</mark>&gt; &amp; <mark>B</mark>");
  assert.equal(highlight("a.b", ""), "a.b");
  assert.equal(highlight("barcode, code", "code"), "barcode, <mark>code</mark>");
});
