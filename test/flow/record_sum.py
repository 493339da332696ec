"""record_sum.py - the checksums of rows in SQLite (src/store/record_sum.c, row_sum() of
src/store/sqlite_db.c), for tests that change what a row says without damaging it."""
MASK = (1 << 64) - 1
START = 0x6B65656C2D73756D
SEQ_BITS = 40
INTEGER, TEXT = 1, 3  # as SQLite numbers the types of values
ROW = ("id", "parent", "root", "created", "cwd", "name", "provider", "model", "preview", "updated",
       "next_seq", "n_messages", "n_bytes")


def add_number(total, value):
    total = ((total ^ (value & MASK)) * 0x9E3779B97F4A7C15) & MASK
    return total ^ (total >> 32)


def add(total, text):
    data = text.encode() if isinstance(text, str) else text
    total = add_number(total, len(data))
    for at in range(0, len(data) - len(data) % 8 + 1, 8):
        total = add_number(total, int.from_bytes(data[at:at + 8], "little"))
    return total


def record_sum(session, key, n, ms, type, run, turn, round, attempt, is_core, total, body):
    seq = key & ((1 << SEQ_BITS) - 1)
    value = add(START, session)
    for number in (seq, n, ms):
        value = add_number(value, number)
    value = add(add(value, type), run)
    for number in (turn, round, attempt, is_core, total):
        value = add_number(value, number)
    return signed(add(value, body))


def row_sum(*values):
    """Of a row of sessions, its values in the order of ROW."""
    total = START
    for value in values:
        if isinstance(value, int):
            total = add_number(add_number(total, INTEGER), value)
        else:
            total = add(add_number(total, TEXT), value)
    return signed(total)


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def seal(db):
    """Gives every row the sum of what it holds now."""
    for number, *row in db.execute(f"select number, {', '.join(ROW)} from sessions").fetchall():
        db.execute("update sessions set sum = ? where number = ?", (row_sum(*row), number))
    for table, is_core in (("records", 1), ("streamed", 0)):
        rows = db.execute(f"select id, key, n, ms, type, run, turn, round, attempt, {is_core}, "
                          f"total, body, {table}.sum from {table} join sessions on number = key >> ?",
                          (SEQ_BITS,)).fetchall()
        for *row, stands in rows:
            if (now := record_sum(*row)) != stands:
                db.execute(f"update {table} set sum = ? where key = ?", (now, row[1]))
