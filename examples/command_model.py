"""The storyteller as a program: it reads the input as JSON from stdin, and writes the story as text to stdout."""

import json
import sys

from storyteller import storyteller

for token in storyteller.tell(**json.load(sys.stdin)):
    print(token, end="", flush=True)
