"""Long work: other threads go on, Ctrl-C ends it, and nobody pulls its data away."""

import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from gfgcn import GraphFilter, _inputs
from gfgcn._settings import Workers

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted as Linux does")

# Long after everything is over on the busiest machine.
HANGS = 1800

# Waits for things to happen, never for a time: the work has begun when a thread that was not there before has used the
# processor for a while, and it has ended when there is no such thread any more.
PRELUDE = textwrap.dedent(
    """
    import os, signal, threading, time, warnings
    import numpy as np
    from gfgcn import GradientFreeClassifier, GraphFilter, datasets
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which Python lacks where it is started in the background

    def threads():
        return set(os.listdir("/proc/self/task"))

    def seconds(thread):
        try:
            fields = open(f"/proc/self/task/{thread}/stat").read().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def interrupt():
        others = threads()
        go.set()
        while max(map(seconds, threads() - others), default=0) < 2:
            time.sleep(0.01)
        sent.append(time.process_time())
        signal.raise_signal(signal.SIGINT)

    def spent_since(start):
        while threads() - before:
            time.sleep(0.001)
        return time.process_time() - start

    before, go, sent = threads(), threading.Event(), []
    interrupter = threading.Thread(target=interrupt, daemon=True)
    """
)

# Minutes of work, on a graph that is quickly built.
LONG = textwrap.dedent(
    """
    nodes = 300_000
    rng = np.random.default_rng(0)
    edges = rng.integers(0, nodes, size=(2, 600_000))
    X = rng.normal(size=(nodes, 64)).astype(np.float32)
    work = lambda: GraphFilter("sgc", depth=10_000, adjacency=edges).fit_transform(X)
    """
)


def run(*parts):
    """What a program prints, one word per line."""
    program = "".join(map(textwrap.dedent, parts))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def interrupted(prelude, prepare, call):
    """How a call ended that was interrupted, and the processor's seconds that were spent after it."""
    return run(
        prelude,
        prepare,
        f"""
        interrupter.start()
        go.wait()
        try:
            {call}
            print("finished")
        except KeyboardInterrupt:
            stopped = time.process_time()
            interrupter.join()
            print("stopped", spent_since(stopped))
        """,
    )


def test_the_lock_is_released():
    """Another thread of Python counts while the engine works."""
    rng = np.random.default_rng(0)
    nodes = 30_000
    ring = np.array([np.arange(nodes), np.roll(np.arange(nodes), 1)])
    X = rng.normal(size=(nodes, 64)).astype(np.float32)
    counted = []
    done = threading.Event()

    def count():
        while not done.is_set():
            counted.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    GraphFilter("sgc", depth=400, adjacency=ring).fit_transform(X)
    elapsed = time.monotonic() - start
    done.set()
    thread.join()
    # A thousandth of a second each, with a generous allowance for a busy machine.
    assert len(counted) > elapsed / 0.001 / 50


@on_linux
def test_interrupt():
    """Ctrl-C ends work of minutes soon, and the interpreter lives on."""
    outcome, spent, lives = run(
        PRELUDE,
        LONG,
        """
        interrupter.start()
        go.wait()
        try:
            work()
            print("finished")
        except KeyboardInterrupt:
            interrupter.join()
            print("stopped", spent_since(sent[0]))
        print(np.array_equal(GraphFilter("sgc", 1).fit_transform(np.eye(3)), np.eye(3)))
        """,
    )
    # Time of the processor, which the other programs of a busy machine do not count in.
    assert outcome == "stopped" and float(spent) < 5
    assert lives == "True"


@on_linux
def test_an_interrupt_ends_the_work_and_not_only_the_waiting():
    """When the exception arrives, no thread goes on with a solution that nobody waits for."""
    outcome, spent = interrupted(
        PRELUDE,
        """
        rng = np.random.default_rng(0)
        X = rng.normal(size=(6000, 16)).astype(np.float32)
        y = rng.integers(0, 2, size=6000)
        """,
        # Its matrix is made in no time, so that this is about the factorisation.
        'GradientFreeClassifier(kernel="cosine").fit(X, y)',
    )
    # Threads that have nothing left to do may take a moment to go. The solution takes many times this.
    assert outcome == "stopped" and float(spent) < 0.5


@on_linux
def test_an_interrupt_is_one_call_s_affair():
    """Calls of another thread, one of them under way when this one's is interrupted, end as if nothing had been."""
    outcome, some, same = run(
        PRELUDE,
        LONG,
        """
        cora = datasets.load("cora")
        expected = GradientFreeClassifier().fit(cora).decision_function()
        results, over = [], threading.Event()

        def others():
            while not over.is_set():
                results.append(GradientFreeClassifier().fit(cora).decision_function())

        bystander = threading.Thread(target=others)
        interrupter.start()
        go.wait()
        bystander.start()
        try:
            work()
            print("finished")
        except KeyboardInterrupt:
            print("stopped")
        over.set()
        bystander.join()
        print(len(results) > 0, all(np.array_equal(result, expected) for result in results))
        """,
    )
    assert (outcome, some, same) == ("stopped", "True", "True")


@on_linux
def test_an_exception_of_any_signal_s_handler_ends_the_work():
    """A time limit, say."""
    outcome = run(
        """
        import signal, numpy as np, warnings
        from gfgcn import GraphFilter
        warnings.simplefilter("ignore")
        """,
        LONG,
        """
        def late(*_):
            raise TimeoutError("too late")

        signal.signal(signal.SIGALRM, late)
        signal.alarm(3)
        try:
            work()
        except TimeoutError as error:
            print(error)
        """,
    )
    assert outcome == ["too", "late"]


@on_linux
def test_an_interrupt_ends_reading(tmp_path):
    """A table of labels that says the same again and again."""
    (tmp_path / "features.csv").write_text("id,x\n" + "".join(f"{k},1\n" for k in range(1000)))
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n")
    block = "".join(f"{k % 1000},class {k % 7 % 2}\n" for k in range(0, 7000, 7)) * 100
    with open(tmp_path / "labels.csv", "w") as file:
        file.writelines([block] * 200)
    call = f"datasets.load({str(tmp_path)!r})"
    outcome, spent = interrupted(PRELUDE.replace("< 2:", "< 0.1:"), "", call)
    assert outcome == "stopped" and float(spent) < 0.5


@on_linux
def test_data_that_do_not_fit_are_no_bad_data(tmp_path, gfgcn):
    """A limit of the address space; the file is larger."""
    big = tmp_path / "big.npz"
    size = ["--nodes", 300_000, "--edges", 300_000, "--classes", 2, "--features", 500]
    gfgcn("data", "synth", "-o", big, *size)
    assert big.stat().st_size > 500e6
    outcome = run(
        f"""
        import re, resource
        from gfgcn import datasets
        datasets.load("cora")  # what is loaded on the way
        used = int(re.search(r"VmSize:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (used + (600 << 20), used + (600 << 20)))
        try:
            datasets.load({str(big)!r})
        except MemoryError as error:
            print(error)
        print(datasets.load("cora").X.shape[0])
        """,
    )
    assert "big.npz: reading the data needs about" in " ".join(outcome)
    assert outcome[-1] == "2708"


@pytest.mark.parametrize("view", [False, True], ids=["array", "view"])
def test_lent_features_are_not_resized(view):
    """Not even by those who say that they know better."""
    owner = np.ones((50, 4), dtype=np.float32)
    X = owner[10:] if view else owner
    data = _inputs.check(_inputs.unpack(X, None, None)).dataset(Workers.of(1, "cpu"))
    with pytest.raises(ValueError, match="cannot resize"):
        owner.resize((1000, 1000), refcheck=False)
    assert np.array_equal(data.features(), X)
    del data, X
    owner.resize((1000, 1000), refcheck=False)
