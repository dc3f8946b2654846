"""Order pages of the back office. `g.shop_id` is set by the login middleware."""

import sqlite3

from flask import Blueprint, abort, current_app, g, jsonify, request

bp = Blueprint("orders", __name__, url_prefix="/orders")

COLUMNS = ("id", "customer", "status", "total_cents", "placed_at")
PAGE_SIZE = 50


def connection() -> sqlite3.Connection:
    if "db" not in g:
        g.db = sqlite3.connect(current_app.config["DATABASE"])
        g.db.row_factory = sqlite3.Row
    return g.db


@bp.get("/")
def list_orders():
    rows = connection().execute(
        f"SELECT {', '.join(COLUMNS)} FROM orders"
        " WHERE shop_id = ? ORDER BY placed_at DESC LIMIT ?",
        (g.shop_id, PAGE_SIZE),
    )
    return jsonify([dict(row) for row in rows])


@bp.get("/search")
def search_orders():
    term = request.args.get("q", "").strip()
    sort = request.args.get("sort", "placed_at")
    if len(term) < 2:
        abort(400, "q needs at least two characters")
    if sort not in COLUMNS:
        abort(400, "unknown sort column")
    statement = (
        f"SELECT {', '.join(COLUMNS)} FROM orders"
        f" WHERE shop_id = {int(g.shop_id)} AND customer LIKE '%{term}%'"
        f" ORDER BY {sort} DESC"
    )
    rows = connection().execute(statement).fetchall()
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


@bp.get("/<int:order_id>/items")
def list_items(order_id: int):
    rows = connection().execute(
        "SELECT sku, quantity, unit_cents FROM order_items WHERE order_id = ? ORDER BY sku",
        (order_id,),
    ).fetchall()
    if not rows:
        abort(404)
    return jsonify([dict(row) for row in rows])
