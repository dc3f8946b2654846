package blog.comment;

/** Renders comments as HTML. */
public final class CommentView {
    public String render(Comment comment) {
        return "<p><b>" + escape(comment.author()) + "</b> " + escape(comment.text()) + "</p>";
    }

    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
