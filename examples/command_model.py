"""The storyteller as a program: the input as JSON on stdin, the story as text on stdout."""

import json
import sys

from storyteller import storyteller

for token in storyteller.tell(**json.load(sys.stdin)):
    print(token, end="", flush=True)
