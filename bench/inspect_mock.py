"""What Inspect AI takes for one sample of a model that does nothing: generate, score, log.

The benchmark `overhead` calls it with the number of samples; by hand: python bench/inspect_mock.py 500
Prints seconds and processor seconds for one sample, and the version of Inspect AI.
"""

import sys
import tempfile
import time
from importlib.metadata import version

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


def answer(*_):
    """An answer with its tokens counted, for counting them needs a table from the network."""
    output = ModelOutput.from_content(model="mockllm", content="Default output from mockllm/model")
    output.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
    return output


def measure(count, folder):
    """Runs so many samples, and gives seconds and processor seconds for each."""
    samples = [Sample(input=f"Review case {n}.", target="output") for n in range(count)]
    task = Task(dataset=samples, solver=generate(), scorer=includes())
    model = get_model("mockllm/model", custom_outputs=answer)
    wall, cpu = time.perf_counter(), time.process_time()
    (log,) = eval(task, model=model, log_dir=folder, display="none")
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if log.status != "success" or log.results.completed_samples != count:
        sys.exit(f"Inspect AI ended with {log.status}: {log.error.message if log.error else ''}")
    return wall / count, cpu / count


with tempfile.TemporaryDirectory() as folder:
    # What is loaded and set up once is not what a sample costs.
    measure(10, folder)
    print(*measure(int(sys.argv[1]), folder), version("inspect-ai"))
