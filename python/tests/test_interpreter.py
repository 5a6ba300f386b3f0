"""What depends on the version of Python: threads, signals, tasks, processes, types at run time."""

from __future__ import annotations

import asyncio
import inspect
import multiprocessing
import os
import pickle
import pydoc
import random
import signal
import subprocess
import sys
import threading
import time
import typing
import warnings

import pytest

import trunkline as tl
from trunkline import documents

pytestmark = pytest.mark.each_python
SLOW = dict(streams=200, duration="2h", cache=False, history=False)


def slow(**further):
    """A call that would take minutes."""
    return tl.simulate.start("oc12-100ms", **SLOW, **further)


def test_operations_are_shown_as_functions():
    # From 3.13 on, long ones are shown in lines.
    shown = "".join(pydoc.plain(pydoc.render_doc(tl.tune)).split())
    assert "tune(target:'Target',*,objective:" in shown and "knee:'float'=0.9" in shown
    assert "->'Result[documents.TuneDocument]'" in shown
    shown = "".join(pydoc.plain(pydoc.render_doc(tl.Campaign)).replace("|", " ").split())
    assert "plan(plan:'File',folder:'File',*" in shown
    assert repr(tl.Campaign.plan) == "<operation trunkline.Campaign.plan>"
    for one in (tl.tune, tl.Campaign.plan, tl.Campaign.run_shard):
        assert pickle.loads(pickle.dumps(one)) is one


def everything():
    """Every function and method of the package, by its name."""
    for name in tl.__all__:
        thing = getattr(tl, name)
        if inspect.ismodule(thing):
            yield from ((f"{name}.{one}", getattr(thing, one)) for one in thing.__all__)
        elif inspect.isclass(thing):
            yield from ((f"{name}.{one}", each) for one, each in vars(thing).items())
        yield name, thing


def test_the_types_of_each_call_are_there_at_run_time():
    pytest.importorskip("distributed")
    checked = set()
    for name, thing in everything():
        # What is in Rust has none.
        if callable(thing) and getattr(thing, "__annotations__", None):
            assert typing.get_type_hints(thing), name
            checked.add(name)
    assert {"tune", "serve", "watch", "Campaign.run_on", "Campaign.plan", "plot.plot"} <= checked
    assert typing.get_type_hints(tl.tune)["return"] == tl.Result[documents.TuneDocument]
    assert typing.get_type_hints(tl.Campaign.plan)["return"] is tl.Campaign


def test_a_callback_that_raises_ends_the_call():
    class Broken(Exception):
        pass

    def on_progress(_):
        raise Broken

    begun = time.monotonic()
    with pytest.raises(Broken):
        tl.simulate("oc12-100ms", **SLOW, on_progress=on_progress)
    assert time.monotonic() - begun < 5
    with pytest.raises(KeyboardInterrupt):
        tl.simulate("oc12-100ms", **SLOW, on_progress=lambda _: os.kill(os.getpid(), signal.SIGINT))


def test_cancelled_from_another_thread():
    call = slow()
    threading.Timer(0.2, call.cancel).start()
    with pytest.raises(tl.Cancelled):
        call.result()
    assert call.done and call.cancelled
    with slow() as call:
        pass
    assert call.done
    with pytest.raises(tl.Cancelled):
        call.result()


def test_a_call_that_is_dropped_ends():
    call = slow()
    core = call._core
    del call
    assert core.wait_done(5)


def test_timeout_does_not_cancel():
    call = slow()
    with pytest.raises(TimeoutError):
        call.result(timeout=0.1)
    assert not call.done and not call.cancelled
    call.cancel()
    with pytest.raises(tl.Cancelled):
        call.result(timeout=5)


def test_interrupts_are_heard_within_a_tenth_of_a_second():
    seed = random.SystemRandom().getrandbits(32)
    print("seed", seed)
    draw = random.Random(seed)
    waited = []
    for _ in range(12):
        call = slow()
        sent = []

        def interrupt(sent=sent):
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        threading.Timer(draw.uniform(0.02, 0.3), interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            call.result()
        waited.append(time.monotonic() - sent[0])
        assert call.cancelled
    # Twenty milliseconds between looks; the bound of the benchmark is a tenth of a second at p99.
    assert sorted(waited)[6] < 0.1, waited


def test_async_twins():
    async def both():
        events = []
        call = tl.measure.start("sim:slac-cern", history=False)

        async def watch():
            async for event in call:
                events.append(event)

        watching = asyncio.create_task(watch())
        one, other = await asyncio.gather(
            tl.predict.aio("slac-cern"), tl.tune.aio("sim:slac-cern", history=False)
        )
        await watching
        return one, other, await call, events

    one, other, third, events = asyncio.run(both())
    assert one.schema == "trunkline/predict" and other.schema == "trunkline/tune"
    assert third.schema == "trunkline/measure" and events


def test_a_cancelled_task_cancels_its_call():
    async def cut():
        call = slow()
        task = asyncio.ensure_future(_await(call))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(tl.Cancelled):
            await asyncio.wait_for(_await(call), 5)
        return call

    call = asyncio.run(cut())
    assert call.cancelled and call.done


async def _await(call):
    return await call


def test_async_waits_do_not_spin():
    async def wait():
        call = slow()
        before = time.thread_time()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_await(call), 1.0)
        return time.thread_time() - before

    assert asyncio.run(wait()) < 0.5


def test_results_cross_processes_and_calls_do_not():
    result = tl.predict("slac-cern")
    again = pickle.loads(pickle.dumps(result))
    assert again.document == result.document
    assert pickle.loads(pickle.dumps(result.document)) == result.document
    assert pickle.loads(pickle.dumps(tl.predict)) is tl.predict
    with slow() as call, pytest.raises(TypeError, match="belongs to its process"):
        pickle.dumps(call)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forks_after_import_and_during_a_call():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        knees = pool.map(_predicted, ["slac-cern", "oc12-100ms"])
    assert all(knees)
    call = slow()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            call.cancel()
            call.result()
        except tl.ForkedError as error:
            code = 0 if "start the call" in error.hint else 2
            # A call of its own works.
            code = code or (0 if tl.predict("slac-cern").schema else 3)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not call.cancelled
    call.cancel()
    with pytest.raises(tl.Cancelled):
        call.result()


def _predicted(path):
    return tl.predict(path).document.to_dict()["schema"] == "trunkline/predict"


def test_spawned_workers():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_predicted, ["slac-cern"]) == [True]


def test_the_interpreter_ends_while_a_call_runs():
    """Without a hang, a crash or a word."""
    script = (
        "import trunkline as tl, threading\n"
        "call = tl.simulate.start('oc12-100ms', streams=200, duration='2h', cache=False)\n"
        "threading.Thread(target=call.result, daemon=True).start()\n"
    )
    begun = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert ended.returncode == 0, ended.stderr
    assert time.monotonic() - begun < 20


def test_a_second_interpreter_is_told():
    """An interpreter beside the first one gets an error, and not a crash."""
    script = (
        "import sys\n"
        "import trunkline\n"
        "try:\n    import _interpreters as i\nexcept ImportError:\n    import _xxsubinterpreters as i\n"
        "one = i.create()\n"
        "print(i.run_string(one, 'import sys; sys.path = %r; import trunkline' % sys.path))\n"
        "print(trunkline.predict('slac-cern').schema)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert ended.returncode in (0, 1), ended
    assert "subinterpreter" in (ended.stdout + ended.stderr) or "trunkline/predict" in ended.stdout


def test_an_archive_that_cannot_be_written_costs_no_result(tmp_path):
    place = tmp_path / "no-folder"
    place.write_text("a file")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = tl.measure("sim:slac-cern", history=place / "archive.sqlite")
    assert result.document.goodput_bits_per_second > 0
    assert result.kept is None
    assert any(isinstance(one.message, tl.KeepWarning) for one in told), told


def test_nothing_is_printed_and_no_handler_installed():
    script = (
        "import signal\nbefore = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]\n"
        "import trunkline as tl\ntl.tune('sim:slac-cern', history=False)\n"
        "with tl.serve() as server: tl.measure(server.address, duration=1, history=False)\n"
        "assert before == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_numbers_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy")
    once = tl.simulate("slac-cern", streams=numpy.int64(4), duration=numpy.int32(5), history=False)
    assert once.document.to_dict()["setting"]["streams"] == 4
    grid = tl.simulate("slac-cern", streams=numpy.arange(1, 3), window=numpy.int64(65536), history=False)
    assert list(grid.visits.column("streams")) == [1, 2]
    assert tl.predict("slac-cern", streams=8, knee=numpy.float64(0.9)).document
