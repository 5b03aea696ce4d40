"""Fetches a page N times, one after the other, to standard output: client URL N reuse|new."""

import os
import sys

import requests

url, count, mode = sys.argv[1:]
verify = os.environ["CA"]
# `requests.get` opens a connection each time, a session keeps it.
get = requests.Session().get if mode == "reuse" else requests.get
for _ in range(int(count)):
    answer = get(url, verify=verify)
    answer.raise_for_status()
    print(answer.text)
