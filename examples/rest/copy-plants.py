"""Copies all plants into an SQLite database, and follows the changes, with only Python's standard library.

  PLANT_STORE_TOKEN=plant_… python3 examples/rest/copy-plants.py plants.sqlite
"""

import json
import os
import random
import sqlite3
import sys
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

plants = os.environ.get("PLANT_STORE_URL", "http://127.0.0.1:3000") + "/plants"
headers = {"Authorization": f"Bearer {os.environ['PLANT_STORE_TOKEN']}"}
copy = sqlite3.connect(sys.argv[1])
copy.execute("CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT, tag TEXT, created_at TEXT)")
copy.execute("CREATE TABLE IF NOT EXISTS position (cursor TEXT)")


def get(path="", **query):
    # A request waits for a change for at most 20 seconds. The response comes at most 5 seconds later.
    with urlopen(Request(f"{plants}{path}?{urlencode(query)}", headers=headers), timeout=30) as response:
        return json.load(response)


def store(plant):
    values = (plant["id"], plant["name"], plant.get("tag"), plant["createdAt"])
    copy.execute("INSERT OR REPLACE INTO plants VALUES (?, ?, ?, ?)", values)


def set_position(cursor):
    copy.execute("DELETE FROM position")
    copy.execute("INSERT INTO position VALUES (?)", (cursor,))


def list_plants():
    cursor = get("/changes")["next"]  # The list contains every change before this cursor.
    with copy:  # One transaction stores the plants and the cursor.
        copy.execute("DELETE FROM plants")
        page = get(limit=1000)
        while page:
            for plant in page["plants"]:
                store(plant)
            page = get(limit=1000, after=page["next"]) if "next" in page else None
        set_position(cursor)


def read_changes(cursor):
    page = get("/changes", after=cursor, limit=1000, wait=20)
    with copy:  # One transaction stores the changes and the cursor after them.
        for change in page["changes"]:
            if change["type"] == "deleted":
                copy.execute("DELETE FROM plants WHERE id = ?", (change["plant"]["id"],))
            else:
                store(change["plant"])
        set_position(page["next"])


delay = 1
while True:
    try:
        position = copy.execute("SELECT cursor FROM position").fetchone()
        if position:
            read_changes(position[0])
        else:
            list_plants()
        delay = 1
        continue
    except HTTPError as error:
        if error.code == 410:  # The cursor has expired.
            with copy:
                copy.execute("DELETE FROM position")  # The next round lists the plants again.
        elif error.code not in (408, 429) and error.code < 500:
            sys.exit(error.read().decode())
    except (OSError, HTTPException):
        pass  # The store or the network is down.
    time.sleep(delay * (1 + random.random()))
    delay = min(delay * 2, 60)
