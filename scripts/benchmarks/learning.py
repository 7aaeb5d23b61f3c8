"""The case `learning`: what the searches learn in a given time, against tuned optimizers."""

import dataclasses
import time

from absl import flags

from benchmarks import picture, policies, results
from benchmarks.training import MODELS, Training
from graphtrain import datasets
from graphtrain.errors import UsageError

# benchmark.py calls define_flags, and owns the flags: its --helpshort shows them.
flags.disclaim_key_flags()

DATA = ("mnist", "fashion_mnist")
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
SEEDS = 3


def define_flags(flag_values):
    """Defines the flags that only this case has."""
    flags.DEFINE_string(
        "data_dir", None, "learning: the folder of both data sets, by default Keras's", flag_values
    )
    flags.DEFINE_float(
        "budget_secs", 10.0, "learning: how long each entry trains", 0, flag_values=flag_values
    )
    flags.DEFINE_enum(
        "clock",
        "wall",
        list(CLOCKS),
        "learning: what budget_secs counts: the wall clock's seconds, or, on a machine that does "
        "other work meanwhile, those that this process works, on all cores together",
        flag_values,
    )
    flags.DEFINE_integer(
        "cnn_images",
        6000,
        "learning: how many images the CNN trains on",
        1,
        flag_values=flag_values,
    )
    flags.DEFINE_boolean(
        "quick", False, "learning: one seed, and every other rate of the grids", flag_values
    )
    flags.DEFINE_multi_enum(
        "policy", None, policies.POLICIES, "learning: train by this one only", flag_values
    )
    flags.DEFINE_string("picture", None, "learning: the file to draw the results to", flag_values)


def run(values):
    """Trains what is not in the file yet; prints a line for each, then a table.

    Args:
      values: the parsed flags.

    Raises:
      UsageError: a flag cannot be used.
    """
    if values.csv is None:
        raise UsageError("case=learning keeps what it has finished in a file: give --csv=PATH")
    if values.picture is not None:
        picture.check_can_draw()
    entries = policies.entries(values.policy or policies.POLICIES, every_rate=not values.quick)
    wanted = [
        (training, values.clock, entry, seed)
        for seed in range(1 if values.quick else SEEDS)
        for training in _trainings(values)
        for entry in entries
    ]
    keys = {_key(*training) for training in wanted}
    finished = {result.key: result for result in results.read(values.csv)}
    missing = [training for training in wanted if _key(*training) not in finished]
    start = time.perf_counter()
    for count, (training, clock, entry, seed) in enumerate(missing, 1):
        key = _key(training, clock, entry, seed)
        result = results.Result(*key, *training.run(entry.make, seed))
        results.append(values.csv, result)
        finished[result.key] = result
        minutes = (time.perf_counter() - start) / count * (len(missing) - count) / 60
        print(f"{count}/{len(missing)} {_described(result)}; {minutes:.0f} min left", flush=True)
    shown = [result for key, result in finished.items() if key in keys]
    _print_table(shown)
    if values.picture is not None:
        picture.draw(shown, values.picture)


def _trainings(values):
    """What is to be learned: each data set by each model."""
    found = []
    for name in DATA:
        data = datasets.load(name, values.data_dir)
        for model in MODELS:
            count = values.cnn_images if model == "cnn" else len(data.train_images)
            if values.batch_size > count:
                raise UsageError(
                    f"batch_size={values.batch_size} cannot be used: there are {count} images"
                )
            part = dataclasses.replace(
                data,
                train_images=data.train_images[:count],
                train_labels=data.train_labels[:count],
            )
            clock = CLOCKS[values.clock]
            found.append(Training(model, part, values.batch_size, values.budget_secs, clock))
    return found


def _key(training, clock, entry, seed):
    return (
        training.data.name,
        training.model,
        len(training.data.train_images),
        training.batch_size,
        training.budget_secs,
        clock,
        entry.policy,
        entry.rate,
        seed,
    )


def _described(result):
    at_rate = "" if result.rate == "" else f" at {result.rate:g}"
    return (
        f"{result.data} {result.model} {result.policy}{at_rate}, seed {result.seed}: "
        f"{result.steps} steps, training loss {result.train_loss:.4g}, "
        f"test accuracy {result.test_accuracy:.4f}"
    )


def _print_table(shown):
    """Each policy's best test accuracy and best training loss, and at which rates."""
    for problem in dict.fromkeys(result.problem for result in shown):
        data, model, images, batch_size, budget_secs, clock = problem
        print(
            f"\n{data}, {model}: {images} images, batches of {batch_size}, {budget_secs:g} s by "
            f"the {clock} clock; "
            "means over the seeds, and their deviations"
        )
        print(
            f"{'policy':20}{'test accuracy':>18}{'at rate':>9}{'training loss':>20}{'at rate':>9}"
        )
        of_problem = [result for result in shown if result.problem == problem]
        for policy in dict.fromkeys(result.policy for result in of_problem):
            of_policy = [result for result in of_problem if result.policy == policy]
            accuracy = results.best(of_policy, "test_accuracy", max)
            loss = results.best(of_policy, "train_loss", min)
            print(
                f"{policy:20}{accuracy.mean:9.4f} ± {accuracy.deviation:.4f}{accuracy.rate:>9}"
                f"{loss.mean:10.4g} ± {loss.deviation:<7.2g}{loss.rate:>9}"
            )
