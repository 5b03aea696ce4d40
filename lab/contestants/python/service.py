"""The contestant in Python: hello, the core over MariaDB, and the file round trip."""

import functools
import json
import os
import random
import re
import tempfile
import threading

LETTERS = 108_000
ALPHABET = [chr(code) for code in range(65, 123)]
POOL = os.environ.get("POOL")
kept = threading.local()


def application(environ, start_response):
    try:
        status, body = route(environ)
    except Exception as error:
        status, body = "500 Internal Server Error", str(error)
    body = body.encode()
    start_response(status, [("Content-Length", str(len(body)))])
    return [body]


def route(environ):
    table, _, key = environ["PATH_INFO"].strip("/").partition("/")
    if table == "hello":
        return "200 OK", "Hello, world!"
    if table == "file":
        return "200 OK", file_round_trip()
    table = quoted(table)
    match environ["REQUEST_METHOD"]:
        case "GET" if key:
            found = query(f"SELECT * FROM {table} WHERE id = %s", (key,))
            return ("200 OK", json.dumps(found[0])) if found else ("404 Not Found", "")
        case "GET":
            return "200 OK", json.dumps(query(f"SELECT * FROM {table}"))
        case "POST":
            record = members(environ)
            holes = ",".join(["%s"] * len(record))
            statement = f"INSERT INTO {table} ({','.join(record)}) VALUES ({holes})"
            return "200 OK", json.dumps(change(statement, tuple(record.values()), "lastrowid"))
        case "PUT":
            record = members(environ)
            settings = ",".join(f"{column} = %s" for column in record)
            statement = f"UPDATE {table} SET {settings} WHERE id = %s"
            return "200 OK", json.dumps(change(statement, (*record.values(), key), "rowcount"))
        case "DELETE":
            return "200 OK", json.dumps(change(f"DELETE FROM {table} WHERE id = %s", (key,), "rowcount"))
    return "405 Method Not Allowed", ""


def quoted(name):
    return "`" + re.sub(r"[^a-zA-Z0-9_]", "", name) + "`"


def members(environ):
    return {quoted(name): value for name, value in json.load(environ["wsgi.input"]).items()}


def connected():
    """A connection, and what to do with it afterwards."""
    if POOL:
        connection = pool().get_connection()
        return connection, connection.close
    if not hasattr(kept, "connection"):
        import MySQLdb
        from MySQLdb.constants import CLIENT
        kept.connection = MySQLdb.connect(client_flag=CLIENT.FOUND_ROWS, **options())
    return kept.connection, lambda: None


@functools.cache
def pool():
    from mysql.connector.pooling import MySQLConnectionPool
    threads = int(os.environ["THREADS"])
    return MySQLConnectionPool(pool_size=threads, pool_reset_session=POOL == "reset", **options())


def options():
    return dict(host=os.environ["DB_HOST"], port=int(os.environ["DB_PORT"]), user=os.environ["DB_USER"],
                database=os.environ["DB_NAME"], charset="utf8mb4", autocommit=True)


def query(statement, values=()):
    connection, release = connected()
    try:
        cursor = connection.cursor()
        cursor.execute(statement, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor.fetchall()]
    finally:
        release()


def change(statement, values, answer):
    connection, release = connected()
    try:
        cursor = connection.cursor()
        cursor.execute(statement, values)
        return getattr(cursor, answer)
    finally:
        release()


def file_round_trip():
    letters = "".join(random.choices(ALPHABET, k=LETTERS))
    handle, path = tempfile.mkstemp(dir=os.environ["WORK"])
    try:
        with os.fdopen(handle, "w") as file:
            file.write(letters)
        with open(path) as file:
            return file.read()
    finally:
        os.unlink(path)
