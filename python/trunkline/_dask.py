"""Shards of a campaign as tasks of Dask, one each, and never a task for a file."""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import socket
import time
import urllib.parse
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _errors
from ._record import Record
from ._text import Time

if TYPE_CHECKING:
    from distributed import Client, Event, Future, Semaphore

    from ._campaign import Campaign

# Pauses before a shard is given to a worker again that a worker could not finish, in seconds; and
# one whose worker was lost, so many times.
_PAUSES = (2.0, 10.0, 60.0)
_PAUSE_LOST = 2.0
_LOST_MAX = 20
# How soon a task hears that it is to end, and how long all of them may take for it, in seconds.
_TICK = 0.5
_END_MAX = 15.0


@dataclass
class OnDask:
    """What was done by a cluster."""

    done: list[str] = field(default_factory=list)
    """Shards of which all is at the destination."""
    failed: list[str] = field(default_factory=list)
    """Shards with files that failed."""
    left: dict[str, str] = field(default_factory=dict)
    """Shards that are left, and why."""
    names: int = 0
    """Names that arrived."""
    bytes: int = 0
    """Bytes of their files."""
    sent_again: int = 0
    """Bytes that were sent more than once."""
    workers_lost: int = 0
    """Tasks that ended because their worker was gone, and were given to another one."""


@dataclass(frozen=True)
class _Host:
    """A host of the plan where a shard can run."""

    name: str
    address: str | None
    """As ssh takes it, or of a server; none where only its name tells that a worker is there."""

    def is_named(self, worker: _Worker) -> bool:
        """Whether the worker is named like it."""
        return worker.name == self.name or worker.name.startswith(f"{self.name}-")


@dataclass(frozen=True)
class _Worker:
    """A worker of the cluster."""

    name: str
    machine: str
    """Where others reach it: an IP address, or a name."""
    threads: int
    tasks: int
    """What it has to do, for whichever client."""


@dataclass
class _Shard:
    """A shard that is left."""

    name: str
    link: str
    copies: int
    priority: int
    group: str
    after: list[str]
    hosts: tuple[_Host, ...]
    tries: int = 0
    lost: int = 0
    nowhere_since: float | None = None
    """When it was noticed that no worker may run it."""
    awaits_link: bool = False
    worker: str | None = None
    """The address of the one that has it."""
    not_before: float = 0.0
    why: str = "it was not begun"

    @classmethod
    def of(cls, row: Record) -> _Shard:
        hosts = tuple(_Host(host["name"], host["address"]) for host in row.hosts)
        return cls(row.shard, row.link, row.copies, row.priority, row.group, row.after, hosts)


@dataclass
class _Ended:
    """What a task came to."""

    kind: str
    what: str = ""
    result: dict[str, Any] = field(default_factory=dict)


def run_on(
    campaign: Campaign,
    client: Client,
    patience: Time,
    wait_for_workers: float,
    on_progress: Callable[[OnDask], object] | None,
) -> OnDask:
    """Runs what is left; see `Campaign.run_on`."""
    run = _Run(campaign, client, patience, wait_for_workers)
    try:
        for seen in run.steps():
            if on_progress is not None:
                on_progress(seen)
    except BaseException:
        run.stop()
        raise
    return run.concluded()


class _Run:
    """The shards of a campaign on their way through a cluster."""

    def __init__(
        self, campaign: Campaign, client: Client, patience: Time, wait_for_workers: float
    ) -> None:
        from distributed import Event

        self._folder, self._client, self._patience = campaign.folder, client, patience
        self._wait_for_workers, self._has_warned = wait_for_workers, False
        rows = campaign.shards()
        self._machines = functools.cache(_machines)
        self._waiting = [_Shard.of(row) for row in rows if row.state == "left"]
        self._unfinished = Counter(row.group for row in rows if row.state != "done")
        self._failed = [row.shard for row in rows if row.state == "failed"]
        self._running: dict[Future, _Shard] = {}
        self._leases: dict[str, Semaphore] = {}
        self._stop: Event = Event(f"trunkline-stop-{uuid.uuid4().hex}", client=client)
        self._seen = OnDask()
        self._cause = ""

    def steps(self) -> Iterator[OnDask]:
        """What was done, each time that a shard ended."""
        while True:
            with self._cluster():
                workers = self._workers()
                self._drop_stranded(workers)
                self._submit(workers)
            if not self._running and not self._comes_later():
                return
            with self._cluster():
                ended = [(future, self._over(future)) for future in self._ended()]
            for future, shard in ended:
                self._take(future, shard)
                yield self._seen

    @contextlib.contextmanager
    def _cluster(self) -> Iterator[None]:
        """Where the cluster is asked; its tasks end by themselves when it is gone."""
        from distributed.client import FuturesCancelledError

        try:
            yield
        except (OSError, FuturesCancelledError) as error:
            what = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise _errors.NotFinished(
                f"the cluster is gone: {what}",
                "with another client the same call goes on; what has arrived is not sent again",
                partial=self._seen,
            ) from error

    def concluded(self) -> OnDask:
        """What was done, or the exception that says what was not."""
        self._seen.left |= {shard.name: shard.why for shard in self._waiting}
        self._seen.failed += self._failed
        if self._seen.left:
            shard, why = next(iter(self._seen.left.items()))
            raise _errors.NotFinished(
                f"{len(self._seen.left)} shards are left, the first of them {shard}: {why}",
                "the same call goes on; what has arrived is not sent again",
                partial=self._seen,
            )
        if self._seen.failed:
            raise _errors.IncompleteCopy(
                f"{len(self._seen.failed)} shards have files that failed{self._cause}",
                "`status()` counts the causes; `retry()` and another run try them again",
                partial=self._seen,
            )
        return self._seen

    def stop(self) -> None:
        """Ends all tasks cleanly, as far as the cluster is still there."""
        from distributed import wait

        try:
            self._stop.set()
            if self._running:
                wait(list(self._running), timeout=_END_MAX)
        except Exception:  # noqa: BLE001 - tasks also end by themselves without a scheduler
            return
        finally:
            with contextlib.suppress(Exception):
                for future in list(self._running):
                    future.cancel()
                    self._over(future)

    def _submit(self, workers: dict[str, _Worker]) -> None:
        links = Counter(shard.link for shard in self._running.values())
        busy = Counter({at: worker.tasks for at, worker in workers.items()})
        busy |= Counter(shard.worker for shard in self._running.values() if shard.worker)
        places_of = functools.cache(functools.partial(self._places, workers))
        for shard in list(self._waiting):
            may_begin = links[shard.link] < shard.copies and self._may_begin(shard)
            if not may_begin or time.monotonic() < shard.not_before:
                continue
            places = places_of(shard.hosts)
            if not places:
                self._found_nowhere(shard, workers)
                continue
            shard.nowhere_since = None
            at = min(places, key=lambda at: busy[at] - workers[at].threads)
            # One that waits in Dask's queue would hold a place of its link from other hosts.
            if busy[at] >= workers[at].threads:
                continue
            shard.awaits_link = not self._lease(shard).acquire(timeout=0)
            if shard.awaits_link:
                # Other campaigns have the places of this link; none of its shards needs to ask.
                links[shard.link] = shard.copies
                continue
            self._waiting.remove(shard)
            links[shard.link] += 1
            busy[at] += 1
            shard.worker = at
            self._running[self._task(shard, places[at])] = shard

    def _found_nowhere(self, shard: _Shard, workers: dict[str, _Worker]) -> None:
        """No worker may run it. One may come later, and who waits for that is told once."""
        shard.awaits_link = False
        shard.why = _nowhere(shard, workers)
        if shard.nowhere_since is None:
            shard.nowhere_since = time.monotonic()
        if not self._has_warned and self._wait_for_workers > 0:
            self._has_warned = True
            waits = f"{shard.name} waits up to {self._wait_for_workers:g} s for a worker"
            warnings.warn(f"{waits}: {shard.why}", RuntimeWarning, stacklevel=6)

    def _drop_stranded(self, workers: dict[str, _Worker]) -> None:
        """Takes back tasks whose worker is gone: Dask would wait for its address."""
        for future, shard in list(self._running.items()):
            if future.status == "pending" and shard.worker not in workers:
                future.cancel()
                self._over(future)
                self._lost(shard, "its worker is gone")

    def _over(self, future: Future) -> _Shard:
        """The shard of a task that runs no more; its link has a place again."""
        shard = self._running.pop(future)
        self._lease(shard).release()
        return shard

    def _may_begin(self, shard: _Shard) -> bool:
        before = [group for group in shard.after if self._unfinished[group]]
        if before:
            shard.why = f"group {before[0]} comes before, and is not done"
        return not before

    def _comes_later(self) -> bool:
        """Whether something only waits: for its time, its link, or a worker."""
        now = time.monotonic()
        return any(
            now < shard.not_before
            or shard.awaits_link
            or now - (shard.nowhere_since or float("-inf")) < self._wait_for_workers
            for shard in self._waiting
        )

    def _workers(self) -> dict[str, _Worker]:
        """The workers, by address."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        tasks = self._client.processing()
        return {
            at: _Worker(str(one["name"]), one["host"], one["nthreads"], len(tasks.get(at, ())))
            for at, one in workers.items()
        }

    def _places(
        self, workers: dict[str, _Worker], hosts: tuple[_Host, ...]
    ) -> dict[str, str | None]:
        """The workers that may run shards of these hosts, and the host that each is at."""
        if not hosts:
            return dict.fromkeys(workers)
        found = {at: self._host_of(worker, hosts) for at, worker in workers.items()}
        return {at: host for at, host in found.items() if host}

    def _host_of(self, worker: _Worker, hosts: tuple[_Host, ...]) -> str | None:
        """The host of the plan that a worker is named like, or else runs at."""
        if named := [host.name for host in hosts if host.is_named(worker)]:
            return max(named, key=len)
        there = self._machines(worker.machine)
        runs_at = (host.name for host in hosts if there & self._machines(host.address))
        return next(runs_at, None)

    def _task(self, shard: _Shard, host: str | None) -> Future:
        return self._client.submit(
            _task,
            self._folder,
            shard.name,
            host,
            self._patience,
            self._stop.name,
            key=f"{shard.link}-{shard.name}-{uuid.uuid4().hex}",
            workers=[shard.worker],
            priority=shard.priority,
            pure=False,
        )

    def _lease(self, shard: _Shard) -> Semaphore:
        """The bound of a link, for all campaigns of the cluster.

        The client holds it: that of a worker that died would keep a place until it times out.
        """
        from distributed import Semaphore

        name, client = f"trunkline-{shard.link}-{shard.copies}", self._client
        if name not in self._leases:
            self._leases[name] = Semaphore(
                shard.copies, name=name, scheduler_rpc=client.scheduler, loop=client.loop
            )
        return self._leases[name]

    def _ended(self) -> list[Future]:
        from distributed import wait

        if not self._running:
            time.sleep(_TICK)
            return []
        try:
            return list(wait(list(self._running), timeout=_TICK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return []

    def _take(self, future: Future, shard: _Shard) -> None:
        try:
            ended: _Ended = future.result()
        except Exception as error:  # noqa: BLE001 - a task never raises: its worker is gone
            return self._lost(shard, f"its worker is gone ({type(error).__name__})")
        result = ended.result
        self._seen.names += result.get("done", 0)
        self._seen.bytes += result.get("bytes", 0)
        self._seen.sent_again += result.get("sent_again", 0)
        match ended.kind:
            case "done":
                self._seen.done.append(shard.name)
                self._unfinished[shard.group] -= 1
            case "failed":
                self._seen.failed.append(shard.name)
                causes = ", ".join(f"{kind} ({count})" for kind, count in result.get("causes", []))
                self._cause = self._cause or f", the first of them {shard.name}: {causes}"
            case "left":
                shard.tries += 1
                pause = _PAUSES[shard.tries - 1] if shard.tries <= len(_PAUSES) else None
                self._put_back(shard, ended.what, pause)
            case _:
                self._put_back(shard, ended.what, None)

    def _lost(self, shard: _Shard, why: str) -> None:
        """Its worker is gone; another one, or the same once it is back, goes on."""
        self._seen.workers_lost += 1
        shard.lost += 1
        self._put_back(shard, why, _PAUSE_LOST if shard.lost <= _LOST_MAX else None)

    def _put_back(self, shard: _Shard, why: str, pause: float | None) -> None:
        """Has it wait for another turn; without a pause it is left."""
        if pause is None:
            self._seen.left[shard.name] = why
            return
        shard.why = why
        shard.not_before = time.monotonic() + pause
        self._waiting.append(shard)


def _machines(address: str | None) -> frozenset[str]:
    """The IP addresses of a machine, but for those that every machine has.

    None where its name is known to ssh alone.
    """
    if not address:
        return frozenset()
    try:
        place = urllib.parse.urlsplit(_as_url(address))
        found = socket.getaddrinfo(place.hostname, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        return frozenset()
    there = {str(one[4][0]) for one in found}
    return frozenset(one for one in there if not ipaddress.ip_address(one).is_loopback)


def _as_url(address: str) -> str:
    """What ssh takes, `USER@HOST`, as a URL; its host may be an IPv6 address."""
    if "://" in address:
        return address
    host = address.rpartition("@")[2]
    is_bare_ipv6 = host.count(":") > 1 and not host.startswith("[")
    return f"ssh://[{host}]" if is_bare_ipv6 else f"ssh://{host}"


def _nowhere(shard: _Shard, workers: dict[str, _Worker]) -> str:
    if not workers:
        return "the cluster has no workers"
    names = " nor ".join(host.name for host in shard.hosts)
    there = ", ".join(sorted(f"{worker.name} at {worker.machine}" for worker in workers.values()))
    return f"no worker is named like {names}, nor runs at the address of one; there are {there}"


def _task(folder: str, shard: str, host: str | None, patience: Time, stop: str) -> _Ended:
    """On a worker: the shard."""
    from distributed import Event

    from ._campaign import Campaign

    is_stopped = Event(stop).is_set
    # A task of a client that died may still run the shard: its result counts.
    start = functools.partial(Campaign.run_shard.start, wait=True)
    try:
        with start(folder, shard, host=host, patience=patience) as call:
            while True:
                try:
                    return _Ended("done", result=call.result(_TICK).to_dict())
                except TimeoutError:
                    # Without a scheduler this raises, and the copy ends: its result has no taker.
                    if is_stopped():
                        call.cancel()
    except _errors.IncompleteCopy as error:
        result = error.partial.to_dict() if error.partial is not None else {}
        return _Ended("failed", error.causes[0], result)
    except (_errors.NotFinished, _errors.Cancelled) as error:
        return _Ended("left", error.causes[0])
    except _errors.Error as error:
        return _Ended("refused", str(error))
