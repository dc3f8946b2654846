"""Reads a folder of tables with DuckDB and with Polars and prints what each finds, and the answers of queries, as JSON.

Arguments: the folder. Standard input: {"sql": [query, …], "python": [program that sets `answer`, …]}.
"""

import contextlib
import io
import json
import sys

import duckdb
import polars as pl

SUMS = ["true_positives", "false_positives", "false_negatives", "findings", "cost_usd", "latency_ms", "cost_micro_usd"]
TABLES = ["trials", "findings", "pairs", "judgements", "figures"]
folder = sys.argv[1]
queries = json.load(sys.stdin)


def parts(table):
    return f"{folder}/{table}/**/*.parquet"


def by_duckdb():
    def rows(query):
        return duckdb.sql(query).fetchall()

    def scan(table):
        return f"read_parquet('{parts(table)}', hive_partitioning = false)"

    trials = scan("trials")
    columns = ", ".join(f"sum({column})" for column in SUMS)
    return {
        "rows": {table: rows(f"SELECT count(*) FROM {scan(table)}")[0][0] for table in TABLES},
        "tools": {tool: sums for tool, *sums in rows(f"SELECT tool, {columns} FROM {trials} GROUP BY tool")},
        "types": {name: kind for name, kind, *_ in rows(f"DESCRIBE SELECT * FROM {trials}")},
    }


def by_polars():
    def scan(table):
        return pl.scan_parquet(parts(table), hive_partitioning=False)

    tools = scan("trials").group_by("tool").agg(pl.col(column).sum() for column in SUMS).collect()
    return {
        "rows": {table: scan(table).select(pl.len()).collect().item() for table in TABLES},
        "tools": {tool: sums for tool, *sums in tools.iter_rows()},
        "types": {name: str(kind) for name, kind in scan("trials").collect_schema().items()},
    }


def answer_sql(query):
    answer = duckdb.sql(query)
    return {"columns": answer.columns, "rows": answer.fetchall()}


def answer_python(program):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program, names)
    return {"columns": names["answer"].columns, "rows": names["answer"].rows()}


answers = [answer_sql(query) for query in queries["sql"]] + [answer_python(program) for program in queries["python"]]
json.dump({"duckdb": by_duckdb(), "polars": by_polars(), "answers": answers}, sys.stdout)
