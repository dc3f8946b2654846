package blog.comment;

import java.time.Instant;

/** A reader's comment. */
public record Comment(String author, String email, String text, Instant written) {}
