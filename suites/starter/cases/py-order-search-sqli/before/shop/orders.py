"""Order pages of the back office. `g.shop_id` is set by the login middleware."""

import sqlite3

from flask import Blueprint, abort, current_app, g, jsonify

bp = Blueprint("orders", __name__, url_prefix="/orders")

PAGE_SIZE = 50


def connection() -> sqlite3.Connection:
    if "db" not in g:
        g.db = sqlite3.connect(current_app.config["DATABASE"])
        g.db.row_factory = sqlite3.Row
    return g.db


@bp.get("/")
def list_orders():
    rows = connection().execute(
        "SELECT id, customer, status, total_cents, placed_at FROM orders"
        " WHERE shop_id = ? ORDER BY placed_at DESC LIMIT ?",
        (g.shop_id, PAGE_SIZE),
    )
    return jsonify([dict(row) for row in rows])


@bp.get("/<int:order_id>")
def show_order(order_id: int):
    row = connection().execute(
        "SELECT id, customer, status, total_cents, placed_at FROM orders"
        " WHERE id = ? AND shop_id = ?",
        (order_id, g.shop_id),
    ).fetchone()
    if row is None:
        abort(404)
    return jsonify(dict(row))
