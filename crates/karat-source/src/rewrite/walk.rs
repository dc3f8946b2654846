//! Visits the nodes of a syntax tree with the nodes around them.

use tree_sitter::{Node, Tree};

/// A node, and the field of its parent that it stands in.
#[derive(Clone, Copy)]
pub(super) struct Placed<'t> {
    pub(super) node: Node<'t>,
    pub(super) field: Option<&'t str>,
}

impl<'t> Placed<'t> {
    pub(super) fn kind(&self) -> &'t str {
        self.node.kind()
    }
}

/// Visits every node in source order with its ancestors, outermost first; what is in a node where `visit` says so.
pub(super) fn visit_placed<'t>(tree: &'t Tree, mut visit: impl FnMut(Placed<'t>, &[Placed<'t>]) -> bool) {
    let mut cursor = tree.walk();
    let mut ancestors: Vec<Placed<'t>> = Vec::new();
    loop {
        let placed = Placed { node: cursor.node(), field: cursor.field_name() };
        if visit(placed, &ancestors) && cursor.goto_first_child() {
            ancestors.push(placed);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            ancestors.pop();
        }
    }
}

/// The text of a node.
pub(super) fn text_of<'s>(node: Node<'_>, text: &'s str) -> &'s str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The direct child of a kind, named or not.
pub(super) fn child_of_kind<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    (0..node.child_count()).filter_map(|at| node.child(at)).find(|child| child.kind() == kind)
}
