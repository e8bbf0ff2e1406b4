"""Creates a plant over REST with nothing but Python's standard library.

  PLANT_STORE_TOKEN=plant_… python3 examples/rest/add-plant.py 1 "Monstera deliciosa" Araceae
"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

plant = {"id": json.loads(sys.argv[1]), "name": sys.argv[2]}  # Python's integers are exact.
if len(sys.argv) > 3:
    plant["tag"] = sys.argv[3]

request = Request(
    os.environ.get("PLANT_STORE_URL", "http://127.0.0.1:3000") + "/plants",
    data=json.dumps(plant).encode(),
    headers={
        "Authorization": f"Bearer {os.environ['PLANT_STORE_TOKEN']}",
        "Content-Type": "application/json",
    },
)

try:
    with urlopen(request) as reply:
        print(reply.read().decode())
except HTTPError as error:
    sys.exit(error.read().decode())
