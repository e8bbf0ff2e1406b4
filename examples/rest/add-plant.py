"""Creates a plant over REST, and then reads the plant, with only Python's standard library.

  PLANT_STORE_TOKEN=plant_… python3 examples/rest/add-plant.py 9007199254740993 "Monstera deliciosa" Araceae
"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

plant = {"id": json.loads(sys.argv[1]), "name": sys.argv[2]}  # Python's integers have no limit.
if len(sys.argv) > 3:
    plant["tag"] = sys.argv[3]

plants = os.environ.get("PLANT_STORE_URL", "http://127.0.0.1:3000") + "/plants"
headers = {"Authorization": f"Bearer {os.environ['PLANT_STORE_TOKEN']}"}


def send(request):
    with urlopen(request) as response:
        return response.read().decode()


create = Request(
    plants,
    data=json.dumps(plant).encode(),
    headers={**headers, "Content-Type": "application/json"},
)

try:
    print(send(create))
    print(send(Request(f"{plants}/{plant['id']}", headers=headers)))
except HTTPError as error:
    sys.exit(error.read().decode())
