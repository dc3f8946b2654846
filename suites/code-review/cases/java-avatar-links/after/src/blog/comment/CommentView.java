package blog.comment;

import blog.avatar.AvatarLinks;

/** Renders comments as HTML. */
public final class CommentView {
    private final AvatarLinks avatars;

    public CommentView(AvatarLinks avatars) {
        this.avatars = avatars;
    }

    public String render(Comment comment) {
        return "<p>"
                + "<img src=\"" + avatars.link(comment.email()) + "\" alt=\"\"> "
                + "<b>" + escape(comment.author()) + "</b> " + escape(comment.text()) + "</p>";
    }

    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
