"""What users of Google's Python client do, against the BigQuery at the address in the first argument. Ends with 'done'."""

import datetime
import io
import sys
from decimal import Decimal

from google.api_core import exceptions
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import bigquery

UTC = datetime.timezone.utc
INSTANT = datetime.datetime(2026, 1, 1, 12, 30, 0, 123456, tzinfo=UTC)

client = bigquery.Client(
    project="test",
    credentials=AnonymousCredentials(),
    client_options=ClientOptions(api_endpoint=sys.argv[1]),
    location="US",
)


def rows(sql, *parameters, **settings):
    config = bigquery.QueryJobConfig(query_parameters=list(parameters), **settings)
    return [tuple(row.values()) for row in client.query(sql, job_config=config).result()]


def raises(kind, work):
    try:
        work()
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was expected")


# Every type of value, as a result and as a parameter.
assert rows(
    "SELECT TIMESTAMP '2026-01-01 12:30:00.123456+00', DATE '2026-01-02', DATETIME '2026-01-02 03:04:05',"
    " TIME '01:02:03', [1, 2], STRUCT(1 AS a, TIMESTAMP '0001-01-01 00:00:00+00' AS b), NUMERIC '1.5', b'abc', TRUE"
) == [
    (
        INSTANT,
        datetime.date(2026, 1, 2),
        datetime.datetime(2026, 1, 2, 3, 4, 5),
        datetime.time(1, 2, 3),
        [1, 2],
        {"a": 1, "b": datetime.datetime(1, 1, 1, tzinfo=UTC)},
        Decimal("1.5"),
        b"abc",
        True,
    )
]
assert rows(
    "SELECT @s, @i, @t, @f, @d, @l, @r.x",
    bigquery.ScalarQueryParameter("s", "STRING", "x"),
    bigquery.ScalarQueryParameter("i", "INT64", 2**62),
    bigquery.ScalarQueryParameter("t", "TIMESTAMP", INSTANT),
    bigquery.ScalarQueryParameter("f", "FLOAT64", 1.5),
    bigquery.ScalarQueryParameter("d", "DATE", datetime.date(2026, 1, 2)),
    bigquery.ArrayQueryParameter("l", "STRING", ["p", "q"]),
    bigquery.StructQueryParameter("r", bigquery.ScalarQueryParameter("x", "INT64", 1)),
) == [("x", 2**62, INSTANT, 1.5, datetime.date(2026, 1, 2), ["p", "q"], 1)]
assert list(client.query_and_wait("SELECT TIMESTAMP '2026-01-01 12:30:00.123456+00'"))[0][0] == INSTANT

# Dry run, pages, tables.
dry = client.query(
    "SELECT id FROM logs.raw_edge_logs", job_config=bigquery.QueryJobConfig(dry_run=True, use_query_cache=False)
)
assert dry.total_bytes_processed > 0 and [field.name for field in dry.schema] == ["id"]
pages = client.query("SELECT x FROM UNNEST(GENERATE_ARRAY(1, 2500)) AS x").result(page_size=1000).pages
assert [len(list(page)) for page in pages] == [1000, 1000, 500]
assert "raw_edge_logs" in [table.table_id for table in client.list_tables("logs")]
assert len(list(client.list_rows("test.logs.raw_edge_logs", max_results=25, page_size=10))) == 25
assert client.get_table("test.logs.raw_edge_logs").num_rows == 118

# Loads: rows with a schema, without one, a file, rows that do not fit.
client.create_dataset("test.python")
SCHEMA = [
    bigquery.SchemaField("id", "INT64", mode="REQUIRED"),
    bigquery.SchemaField("moment", "TIMESTAMP"),
    bigquery.SchemaField("tags", "STRING", mode="REPEATED"),
    bigquery.SchemaField("parts", "RECORD", mode="REPEATED", fields=[bigquery.SchemaField("n", "NUMERIC")]),
]
ROWS = [
    {"id": 1, "moment": "2026-01-01T12:30:00.123456Z", "tags": ["a"], "parts": [{"n": "1.5"}]},
    {"id": 2, "moment": None, "tags": [], "parts": []},
]


def load(data, table, **settings):
    job = client.load_table_from_json(data, table, job_config=bigquery.LoadJobConfig(**settings))
    return job.result().output_rows


assert load(ROWS, "test.python.rows", schema=SCHEMA) == 2
assert load(ROWS, "test.python.rows", schema=SCHEMA, write_disposition="WRITE_APPEND") == 2
assert load(ROWS, "test.python.rows", schema=SCHEMA, write_disposition="WRITE_TRUNCATE") == 2
assert rows("SELECT id, moment, tags, parts[SAFE_OFFSET(0)].n FROM python.rows ORDER BY id") == [
    (1, INSTANT, ["a"], Decimal("1.5")),
    (2, None, [], None),
]
assert "x" in raises(exceptions.BadRequest, lambda: load([{"id": "x"}], "test.python.rows", schema=SCHEMA))
raises(exceptions.Conflict, lambda: load(ROWS, "test.python.rows", schema=SCHEMA, write_disposition="WRITE_EMPTY"))
assert client.get_table("test.python.rows").num_rows == 2
load([{"a": 1, "b": "x", "c": True, "d": 1.5, "e": "2026-01-01T00:00:00Z"}], "test.python.guessed", autodetect=True)
assert [field.field_type for field in client.get_table("test.python.guessed").schema] == [
    "INTEGER",
    "STRING",
    "BOOLEAN",
    "FLOAT",
    "TIMESTAMP",
]
# A file of unknown size goes up in a session.
csv = client.load_table_from_file(
    io.BytesIO(b'id,moment\n1,2026-01-01 00:00:00\n"2",\n'),
    "test.python.csv",
    job_config=bigquery.LoadJobConfig(schema=SCHEMA[:2], source_format="CSV", skip_leading_rows=1),
)
assert csv.result().output_rows == 2
assert client.insert_rows_json("test.python.rows", ROWS[:1]) == []

# A frame, where pandas is there.
frame = client.query("SELECT id, timestamp FROM logs.raw_edge_logs LIMIT 3").to_dataframe(create_bqstorage_client=False)
assert frame.shape == (3, 2) and str(frame["timestamp"].dtype) == "datetime64[us, UTC]"

# Errors and jobs.
raises(exceptions.BadRequest, lambda: rows("SELEC 1"))
raises(exceptions.NotFound, lambda: rows("SELECT * FROM logs.nothing"))
raises(exceptions.BadRequest, lambda: rows("SELECT 1 / 0"))
raises(exceptions.InternalServerError, lambda: rows("SELECT * FROM logs.raw_edge_logs", maximum_bytes_billed=1))
assert len(list(client.list_jobs(max_results=3))) == 3
job = client.query("SELECT 1")
job.result()
assert client.get_job(job.job_id).state == "DONE"
client.delete_dataset("test.python", delete_contents=True)
print("done")
