"""Prints each change of the store, with only Python's standard library.

  PLANT_STORE_TOKEN=plant_… python3 examples/events.py
"""

import http.client
import json
import os
import time
import urllib.error
import urllib.request

url = os.environ.get("PLANT_STORE_URL", "http://127.0.0.1:3000") + "/plants/changes"
headers = {"Authorization": "Bearer " + os.environ["PLANT_STORE_TOKEN"], "Accept": "text/event-stream"}
while True:
    try:
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as stream:
            event = {}
            for line in stream:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                event[field] = value
                if line != b"\n":
                    continue
                if "data" in event:
                    print(event["event"], json.loads(event["data"]), flush=True)
                if "id" in event:
                    headers["Last-Event-ID"] = event["id"]
                event = {}
    except urllib.error.HTTPError as error:
        if error.code < 500 and error.code not in (408, 429):
            raise
    except (OSError, http.client.HTTPException):
        pass  # The store or the network is down.
    time.sleep(1)
