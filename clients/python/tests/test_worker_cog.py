"""Predictors of Cog, as they are, against the worker's protocol without a queue."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from support import until
from worker_protocol import RUN, Protocol

HEAD = """
import asyncio, io, os, sys, threading, time, tempfile
from typing import Iterator, List, Optional
from cog import AsyncConcatenateIterator, AsyncIterator, BaseModel, BasePredictor, ConcatenateIterator, File, Input, Path, Secret
"""


def predictor(body: str, setup: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in f"{setup}\n{body}".splitlines())
    return f"{HEAD}\nclass Predictor(BasePredictor):\n{lines}"


def run(protocol: Protocol, **input: Any) -> None:
    protocol.run = {**RUN, "input": input}


def output_of(protocol: Protocol) -> Any:
    ended = until(lambda: protocol.of("output") or protocol.of("failure"))
    assert protocol.of("failure") == []
    return json.loads(ended[0]) if ended[0] else None


def failure_of(protocol: Protocol) -> dict[str, Any]:
    [failure] = until(lambda: protocol.of("failure"))
    return dict(json.loads(failure))


def logs_of(protocol: Protocol) -> list[str]:
    return [event["message"] for event in protocol.events() if event["type"] == "log"]


ECHO = 'def predict(self, text: str) -> str:\n    return f"{self.greeting} {text}"'


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_predictor_is_set_up_once_before_the_first_claim(
    protocol: Protocol, start_file: Any, tmp_path: Path, kind: str
) -> None:
    protocol.next["claims"] = [
        (200, {"runs": [{**RUN, "input": {"text": "first"}}]}),
        (200, {"runs": [{**RUN, "request_id": "r2", "lease_token": "t2", "input": {"text": "second"}}]}),
    ]
    setup = f"""
{kind} setup(self):
    print("setting up", flush=True)
    while not os.path.exists("weights"):
        time.sleep(0.01)
    self.greeting = "hello"
"""
    worker = start_file("cog", "predict.py:Predictor", predict=predictor(ECHO, setup))
    assert worker.stdout.readline() == "setting up\n"
    assert protocol.calls == []
    (tmp_path / "weights").touch()
    until(lambda: len(protocol.of("output")) == 2)
    assert protocol.of("output") == [b'"hello first"', b'"hello second"']
    worker.terminate()
    assert worker.communicate(timeout=20)[0] == ""


INPUTS = """
def predict(
    self,
    prompt: str = Input(description="What to draw", min_length=2, max_length=10, regex="^[a-z ]+$"),
    steps: int = Input(default=20, ge=1, le=50),
    scale: float = Input(default=1.5, ge=0.5),
    size: str = Input(default="small", choices=["small", "large"]),
    seed: Optional[int] = Input(default=None),
    mask: Optional[str] = None,
    tags: List[str] = Input(default=["a"]),
    fast: bool = False,
) -> dict:
    return dict(prompt=prompt, steps=steps, scale=scale, size=size, seed=seed, mask=mask, tags=tags, fast=fast)
"""
DEFAULTS = {
    "prompt": "a cat",
    "steps": 20,
    "scale": 1.5,
    "size": "small",
    "seed": None,
    "mask": None,
    "tags": ["a"],
    "fast": False,
}


@pytest.mark.parametrize(
    "given", [{}, {"steps": 50.0, "scale": 2, "seed": 7}, {"size": "large", "tags": [], "fast": True, "seed": None}]
)
@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_inputs_have_defaults_and_types(protocol: Protocol, start_file: Any, given: dict[str, Any], future: str) -> None:
    run(protocol, prompt="a cat", **given)
    start_file("cog", "predict.py:Predictor", predict=future + predictor(INPUTS))
    output = output_of(protocol)
    assert output == {**DEFAULTS, **given}
    assert isinstance(output["steps"], int) and isinstance(output["scale"], float)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, '"prompt" is missing'),
        ({"prompt": 7}, '"prompt" must be a text'),
        ({"prompt": "a"}, '"prompt" must have at least 2 characters'),
        ({"prompt": "a long prompt"}, '"prompt" must have at most 10 characters'),
        ({"prompt": "A CAT"}, '"prompt" must match ^[a-z ]+$'),
        ({"prompt": "cat", "steps": 0}, '"steps" must be at least 1, not 0'),
        ({"prompt": "cat", "steps": 51}, '"steps" must be at most 50, not 51'),
        ({"prompt": "cat", "steps": 1.5}, '"steps" must be a whole number'),
        ({"prompt": "cat", "steps": True}, '"steps" must be a whole number'),
        ({"prompt": "cat", "steps": None}, '"steps" must be a whole number'),
        ({"prompt": "cat", "scale": 10**400}, '"scale" must be a smaller number'),
        ({"prompt": "cat", "size": "huge"}, "\"size\" must be one of 'small', 'large', not 'huge'"),
        ({"prompt": "cat", "tags": ["a", 7]}, '"tags" must be a text'),
        ({"prompt": "cat", "fast": 1}, '"fast" must be true or false'),
        ({"steps": 0}, '"prompt" is missing; "steps" must be at least 1, not 0'),
    ],
)
def test_an_invalid_input_fails_the_request_with_its_faults(
    protocol: Protocol, start_file: Any, given: dict[str, Any], said: str
) -> None:
    run(protocol, **given)
    start_file("cog", "predict.py:Predictor", predict=predictor(INPUTS))
    failure = failure_of(protocol)
    assert failure == {
        "message": f"The input is invalid: {said}.",
        "retryable": False,
        "status": 422,
        "details": {"errors": said.split("; ")},
    }


def test_an_input_that_the_predictor_does_not_have_is_ignored_with_a_warning(protocol: Protocol, start_file: Any) -> None:
    run(protocol, prompt="a cat", colour="red")
    start_file("cog", "predict.py:Predictor", predict=predictor(INPUTS))
    assert output_of(protocol) == DEFAULTS
    assert logs_of(protocol) == ["The predictor has no input 'colour', so it is ignored."]


FILES = """
def predict(self, image: Path, sound: File, others: List[Path]) -> List[Path]:
    assert isinstance(image, Path) and image.suffix == ".png", image
    open("seen", "w").write(str(image.parent.parent))
    made = Path(tempfile.mkdtemp()) / "made.bin"
    made.write_bytes(image.read_bytes() + sound.read() + b"".join(one.read_bytes() for one in others))
    kept = Path("kept.bin").absolute()
    kept.write_bytes(b"kept")
    open("made", "w").write(str(made))
    return [made, kept]
"""


def test_files_of_the_input_are_paths_and_files_of_the_output_are_urls(
    protocol: Protocol, start_file: Any, tmp_path: Path
) -> None:
    protocol.echo_names = True

    def data(content: bytes, kind: str = "image/png") -> str:
        return f"data:{kind};base64,{base64.b64encode(content).decode()}"

    run(protocol, image=data(b"picture"), sound=data(b"sound", "audio/wav"), others=[data(b"1"), "data:,2%203"])
    start_file("cog", "predict.py:Predictor", predict=predictor(FILES))
    assert output_of(protocol) == ["/v1/files/made.bin", "/v1/files/kept.bin"]
    assert protocol.of("here") == [b"picturesound12 3", b"kept"]
    # The files of the input are gone, and of the output those that are temporary.
    assert not Path((tmp_path / "seen").read_text()).exists()
    assert not Path((tmp_path / "made").read_text()).exists()
    assert (tmp_path / "kept.bin").exists()


def test_a_text_that_is_no_url_is_not_a_file(protocol: Protocol, start_file: Any) -> None:
    run(protocol, image="cat", sound="data:,", others=[])
    start_file("cog", "predict.py:Predictor", predict=predictor(FILES))
    assert failure_of(protocol)["message"] == 'The input is invalid: "image" must be the URL of a file.'


@pytest.mark.parametrize("image", ["data:;base64,a", "http://[/a.png"])
def test_a_faulty_url_fails_the_request(protocol: Protocol, start_file: Any, image: str) -> None:
    run(protocol, image=image, sound="data:,", others=[])
    start_file("cog", "predict.py:Predictor", predict=predictor(FILES))
    said = "A file of the input is neither a data: URL nor another one."
    assert failure_of(protocol) == {"message": said, "retryable": False, "status": 422}


def test_files_of_other_origins_must_be_allowed(protocol: Protocol, start_file: Any) -> None:
    run(protocol, image="http://127.0.0.1:1/a.png", sound="data:,", others=[])
    start_file("cog", "predict.py:Predictor", predict=predictor(FILES))
    assert "\"downloads\" allows other origins" in failure_of(protocol)["message"]


@pytest.mark.parametrize(
    ("kind", "returns", "output"),
    [
        ("def", "ConcatenateIterator[str]", None),
        ("def", "Iterator[str]", ["a ", "b "]),
        ("async def", "AsyncConcatenateIterator[str]", None),
        ("async def", "AsyncIterator[str]", ["a ", "b "]),
    ],
)
def test_what_a_predictor_yields_is_streamed(
    protocol: Protocol, start_file: Any, kind: str, returns: str, output: Any
) -> None:
    run(protocol)
    body = f'{kind} predict(self) -> {returns}:\n    yield "a "\n    yield "b "'
    start_file("cog", "predict.py:Predictor", predict=predictor(body))
    assert output_of(protocol) == output
    assert [event["delta"] for event in protocol.events()] == ["a ", "b "]


def test_an_iterator_of_joined_texts_that_yields_nothing_gives_an_empty_text(protocol: Protocol, start_file: Any) -> None:
    run(protocol)
    body = "def predict(self) -> ConcatenateIterator[str]:\n    yield from ()"
    start_file("cog", "predict.py:Predictor", predict=predictor(body))
    assert output_of(protocol) == ""


def test_files_that_are_yielded_are_urls(protocol: Protocol, start_file: Any) -> None:
    protocol.echo_names = True
    run(protocol)
    body = """
def predict(self) -> Iterator[Path]:
    for n in range(2):
        path = Path(tempfile.mkdtemp()) / f"{n}.txt"
        path.write_text(str(n))
        yield path
"""
    start_file("cog", "predict.py:Predictor", predict=predictor(body))
    assert output_of(protocol) == ["/v1/files/0.txt", "/v1/files/1.txt"]
    assert protocol.of("here") == [b"0", b"1"]


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_predictor_that_breaks_half_way_fails_the_attempt(protocol: Protocol, start_file: Any, kind: str) -> None:
    run(protocol)
    returns = "ConcatenateIterator[str]" if kind == "def" else "AsyncConcatenateIterator[str]"
    body = f'{kind} predict(self) -> {returns}:\n    yield "a "\n    raise RuntimeError("CUDA out of memory")'
    start_file("cog", "predict.py:Predictor", predict=predictor(body))
    assert failure_of(protocol) == {"message": "RuntimeError: CUDA out of memory", "retryable": True}


def test_asynchronous_predictions_share_the_event_loop_of_the_setup(protocol: Protocol, start_file: Any) -> None:
    protocol.next["claims"] = [
        (200, {"runs": [{**RUN, "input": {}}, {**RUN, "request_id": "r2", "lease_token": "t2", "input": {}}]})
    ]
    setup = """
async def setup(self):
    self.loop, self.count = asyncio.get_running_loop(), 0
"""
    body = """
async def predict(self) -> bool:
    self.count += 1
    while self.count < 2:
        await asyncio.sleep(0.01)
    return asyncio.get_running_loop() is self.loop
"""
    start_file("cog", "predict.py:Predictor", "--concurrency", "2", predict=predictor(body, setup))
    until(lambda: len(protocol.of("output")) == 2)
    assert protocol.of("output") == [b"true", b"true"]


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_what_a_predictor_prints_goes_to_the_log(protocol: Protocol, start_file: Any, kind: str) -> None:
    run(protocol, token="secret")
    body = f"""
{kind} predict(self, token: Secret) -> str:
    print("with", token)
    for percent in (0, 50, 100):
        print(f"\\r{{percent}} %", end="", file=sys.stderr)
    print("\\nno end", end="")
    return token.get_secret_value()
"""
    worker = start_file("cog", "predict.py:Predictor", predict=predictor(body))
    assert output_of(protocol) == "secret"
    assert sorted(logs_of(protocol)) == ["100 %", "no end", "with **********"]
    worker.terminate()
    printed, said = worker.communicate(timeout=20)
    assert printed == "with **********\n\nno end" and "100 %" in said


def test_what_the_worker_itself_says_stays_out_of_the_log(protocol: Protocol, start_file: Any) -> None:
    run(protocol)
    body = "def predict(self) -> str:\n    raise ValueError('no')"
    worker = start_file("cog", "predict.py:Predictor", predict=predictor(body))
    failure_of(protocol)
    assert logs_of(protocol) == []
    worker.terminate()
    assert "Traceback" in worker.communicate(timeout=20)[1]


def test_metrics_are_the_usage(protocol: Protocol, start_file: Any) -> None:
    run(protocol)
    body = """
def predict(self) -> str:
    self.record_metric("tokens.input", 4)
    for _ in range(3):
        self.record_metric("tokens.output", 1, mode="incr")
    self.record_metric("temperature", 0.7)
    return "done"
"""
    start_file("cog", "predict.py:Predictor", predict=predictor(body))
    assert output_of(protocol) == "done"
    assert protocol.events() == [{"type": "usage", "usage": {"tokens": {"input": 4, "output": 3}}}]


def test_an_output_may_be_an_object(protocol: Protocol, start_file: Any) -> None:
    protocol.echo_names = True
    run(protocol)
    body = """
def predict(self) -> "Output":
    return Output(text="hello", file=io.StringIO("in a file"))
"""
    more = "\nclass Output(BaseModel):\n    text: str\n    size: int = 5\n    score: Optional[float]\n    file: Optional[File]\n"
    start_file("cog", "predict.py:Predictor", predict=predictor(body) + more)
    assert output_of(protocol) == {"text": "hello", "size": 5, "file": "/v1/files/output"}
    assert protocol.of("here") == [b"in a file"]


CONFIG = """
build:
  gpu: true
{line}
concurrency:
  # as many as the engine takes
  max: 5
"""


@pytest.mark.parametrize("line", ['predict: "model.py:Predictor"', "predict: model.py:Predictor  # the model"])
@pytest.mark.parametrize("given", ["model", "model/cog.yaml"])
def test_a_folder_is_run_by_its_cog_yaml(
    protocol: Protocol, start_file: Any, tmp_path: Path, line: str, given: str
) -> None:
    run(protocol, text="world")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "cog.yaml").write_text(CONFIG.format(line=line))
    (folder / "greeting").write_text("hello")
    (folder / "beside.py").write_text("NAME = 'greeting'")
    setup = "def setup(self):\n    import beside\n    self.greeting = open(beside.NAME).read()"
    (folder / "model.py").write_text(predictor(ECHO, setup))
    start_file("cog", given)
    assert output_of(protocol) == "hello world"
    assert json.loads(protocol.of("claims")[0])["max"] == 5


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("run.py:Runner", "from cog import BaseRunner\nclass Runner(BaseRunner):\n    def run(self, n: int) -> int:\n        return n * n\n"),
        ("run.py:predict", "def predict(n: int) -> int:\n    return n * n\n"),
    ],
)
def test_a_runner_and_a_function_are_predictors_too(protocol: Protocol, start_file: Any, given: str, text: str) -> None:
    run(protocol, n=2)
    start_file("cog", given, run=text)
    assert output_of(protocol) == 4


def test_a_predictor_is_tried_without_a_service(start_file: Any) -> None:
    body = "def predict(self, text: str) -> ConcatenateIterator[str]:\n    yield text\n    yield text"
    worker = start_file("cog", "predict.py:Predictor", "--try", '{"text": "ab"}', predict=predictor(body))
    printed, said = worker.communicate(timeout=20)
    assert json.loads(printed.splitlines()[-1]) == {"type": "output", "output": "abab"}, said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("predict.py:Missing", "predict.py has no Missing."),
        ("nowhere", "nowhere is neither a folder with a cog.yaml nor a file and a name such as predict.py:Predictor."),
    ],
)
def test_a_predictor_that_is_not_there_is_an_error(start_file: Any, given: str, said: str) -> None:
    worker = start_file("cog", given, predict=predictor(ECHO))
    assert said in worker.communicate(timeout=20)[1]
    assert worker.returncode == 1


def test_a_setup_that_fails_ends_the_worker(protocol: Protocol, start_file: Any) -> None:
    setup = "def setup(self):\n    raise RuntimeError('no GPU')"
    worker = start_file("cog", "predict.py:Predictor", predict=predictor(ECHO, setup))
    assert "RuntimeError: no GPU" in worker.communicate(timeout=20)[1]
    assert worker.returncode == 1 and protocol.calls == []
