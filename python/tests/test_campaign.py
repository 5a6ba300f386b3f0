"""Campaigns, from one process and on a cluster of Dask."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import skip
from engines import OwnCluster, Slurm, Sshd

import trunkline as tl

SEED = int(os.environ.get("TRUNKLINE_SEED", random.SystemRandom().getrandbits(32)))


@pytest.fixture
def drawn() -> random.Random:
    """Random choices, whose seed stands in the output of a test that failed."""
    print(f"TRUNKLINE_SEED={SEED}")
    return random.Random(SEED)


class Site:
    """A server that holds what arrives, files to be copied, and the plan for them."""

    def __init__(self, folder: Path, server: tl.Server) -> None:
        self.source, self.store = folder / "source", folder / "store"
        self.folder, self._server = folder, server

    def plan(self, **keys: str) -> Path:
        """The plan, with further keys of its link, a second group, and a host of the source."""
        file = self.folder / "plan.toml"
        here, to = keys.get("here"), keys.get("to", "far:/raw")
        source = f"here:{self.source}" if here else self.source
        host = f'[hosts.here]\naddress = "{here}"' if here else ""
        file.write_text(f"""
[shards]
files = {keys.get("files", "10")}
[hosts.far]
address = "trunkline://127.0.0.1:{self._server.port}"
token = "{self.folder}/token"
{host}
[links.wan]
copies = 2
{keys.get("link", "")}
[groups]
raw = {{ from = "{source}", to = "{to}", link = "wan"{keys.get("bag", "")} }}
{keys.get("second", "")}
""")
        return file

    def planned(self, **keys: str) -> tl.Campaign:
        return tl.Campaign.plan(self.plan(**keys), self.folder / "campaign")

    @staticmethod
    def once_it_runs(campaign: tl.Campaign, act: Callable[[], object]) -> threading.Thread:
        """Does something as soon as a shard runs, on a thread of its own."""

        def wait() -> None:
            while not campaign.status().running:
                time.sleep(0.05)
            act()

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        return thread

    def fill(self, count: int, size: int = 1000) -> None:
        for number in range(count):
            file = self.source / f"d{number % 7}" / f"f{number}"
            file.parent.mkdir(exist_ok=True, parents=True)
            file.write_bytes(os.urandom(size))

    def assert_all_there(self) -> None:
        files = [file for file in self.source.rglob("*") if file.is_file()]
        assert files
        for file in files:
            there = self.store / "raw" / file.relative_to(self.source)
            assert there.read_bytes() == file.read_bytes(), file


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "store").mkdir()
    (tmp_path / "source").mkdir()
    token = tl.add_token(tmp_path / "tokens", "ana")
    (tmp_path / "token").write_text(token)
    (tmp_path / "token").chmod(0o600)
    with tl.serve(root=tmp_path / "store", tokens=tmp_path / "tokens") as server:
        yield Site(tmp_path, server)


@pytest.mark.each_python
def test_a_campaign_is_planned_run_and_verified(site: Site) -> None:
    site.fill(35)
    campaign = site.planned()
    assert campaign.planned is not None
    shards = campaign.shards()
    assert [shard.state for shard in shards] == ["left"] * len(shards)
    assert len(shards) >= 4 and shards[0].link == "wan" and shards[0].copies == 2
    status = campaign.run()
    assert status.links[0]["shards_left"] == 0
    assert {shard.state for shard in campaign.shards()} == {"done"}
    site.assert_all_there()
    verified = campaign.verify()
    assert verified.equal == 35 and verified.different == []


def test_a_group_becomes_a_bag_that_other_programs_accept(site: Site) -> None:
    site.fill(25)
    bag = site.store / "july"
    bag.mkdir(parents=True)
    campaign = site.planned(to="far:/july/data", bag=', bag = ["sha256", "md5"]')
    campaign.run()
    verified = tl.verify(bag)
    assert verified.troubles == [] and verified.wrong == 0
    try:
        import bagit
    except ImportError:
        skip("the package bagit is not installed")
    assert bagit.Bag(str(bag)).validate()


def test_one_shard_is_a_task_that_may_be_repeated(site: Site) -> None:
    site.fill(25)
    campaign = site.planned()
    shard = campaign.shards()[0].shard
    first = tl.Campaign.run_shard(campaign.folder, shard)
    again = tl.Campaign.run_shard(campaign.folder, shard)
    assert first.done == again.done and first.done_digest == again.done_digest
    assert [one.state for one in campaign.shards()].count("done") == 1


def test_files_that_vanished_make_it_incomplete(site: Site) -> None:
    site.fill(12)
    campaign = site.planned(files="100")
    (site.source / "d0/f0").unlink()
    with pytest.raises(tl.IncompleteCopy) as raised:
        tl.Campaign.run_shard(campaign.folder, campaign.shards()[0].shard)
    assert raised.value.partial.failed == 1
    assert "failed.ndjson" in str(raised.value)


def test_a_cluster_tells_the_first_shard_that_failed_and_why(site: Site, client: object) -> None:
    site.fill(12)
    campaign = site.planned(files="100")
    (site.source / "d0/f0").unlink()
    shard = campaign.shards()[0].shard
    with pytest.raises(tl.IncompleteCopy, match=rf"first of them {shard}: not-found \(1\)"):
        campaign.run_on(client)


def test_a_paused_campaign_is_not_finished(site: Site) -> None:
    site.fill(5)
    campaign = site.planned()
    campaign.pause()
    with pytest.raises(tl.NotFinished, match="paused"):
        campaign.run()
    campaign.resume()
    campaign.run()
    site.assert_all_there()


def test_what_is_no_campaign_is_told(tmp_path: Path) -> None:
    with pytest.raises(tl.RequestError) as raised:
        tl.Campaign(tmp_path / "nothing")
    assert raised.value.hint


def test_a_script_for_slurm_names_the_link(site: Site) -> None:
    site.fill(3)
    script = site.planned().slurm_script("wan", program="/opt/trunkline")
    assert "#SBATCH --array=0-" in script and "/opt/trunkline" in script
    with pytest.raises(tl.RequestError, match="has no shards"):
        tl.Campaign(site.folder / "campaign").slurm_script("lan")


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    """Workers in processes of their own, which a nanny starts again when they die."""
    import dask
    from distributed import LocalCluster

    locks = "distributed.scheduler.locks.lease-"
    dask.config.set({f"{locks}timeout": "3s", f"{locks}validation-interval": "1s"})
    dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with LocalCluster(
        n_workers=2, threads_per_worker=2, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: object) -> Iterator[object]:
    from distributed import Client

    with Client(cluster) as client:
        yield client


def test_dask_runs_the_shards(site: Site, client: object) -> None:
    site.fill(45)
    campaign = site.planned()
    seen: list[int] = []
    done = campaign.run_on(client, on_progress=lambda seen_now: seen.append(len(seen_now.done)))
    assert len(done.done) == len(campaign.shards()) == max(seen)
    assert done.left == {} and done.failed == []
    site.assert_all_there()


def test_groups_wait_for_those_before_them(site: Site, client: object) -> None:
    site.fill(15)
    other = site.folder / "other"
    other.mkdir()
    (other / "index").write_text("last")
    second = f'index = {{ from = "{other}", to = "far:/index", link = "wan", after = ["raw"] }}'
    campaign = site.planned(second=second)
    done = campaign.run_on(client)
    assert done.done[-1].startswith("index-")


@pytest.mark.timeout(120)
def test_a_cluster_over_ssh_runs_shards_where_its_hosts_are(
    site: Site, tmp_path: Path, as_root: None
) -> None:
    """Such workers are named like their addresses."""
    from distributed import Client, SSHCluster

    own = address_of_this_machine()
    if not os.path.exists("/usr/sbin/sshd") or own is None:
        skip("no sshd, or no address but that of the loopback: apt-get install openssh-server")
    site.fill(30)
    campaign = tl.Campaign.plan(site.plan(here=f"ana@{own}"), site.folder / "campaign", host="here")
    assert [one["name"] for one in campaign.shards()[0].hosts] == ["here", "far"]
    with (
        Sshd(tmp_path) as sshd,
        SSHCluster(
            [own, own, own],
            connect_options=sshd.options(),
            scheduler_options={"port": 0, "dashboard": False},
            worker_options={"nthreads": 2},
        ) as cluster,
        Client(cluster) as client,
    ):
        done = campaign.run_on(client)
    assert len(done.done) == len(campaign.shards())
    site.assert_all_there()


@pytest.mark.timeout(120)
def test_workers_of_a_batch_system_run_shards(
    site: Site, slurm: Slurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    with interrupts_kept():
        from dask_jobqueue import SLURMCluster
    from distributed import Client

    monkeypatch.setenv("SLURM_CONF", slurm.env["SLURM_CONF"])
    site.fill(30)
    campaign = site.planned()
    with (
        SLURMCluster(
            cores=2,
            processes=2,
            memory="500MB",
            walltime="00:10:00",
            log_directory=slurm.folder / "log",
            scheduler_options={"host": "127.0.0.1", "dashboard": False},
        ) as cluster,
        Client(cluster) as client,
    ):
        cluster.scale(jobs=1)
        with pytest.warns(RuntimeWarning, match="the cluster has no workers"):
            done = campaign.run_on(client)
    assert len(done.done) == len(campaign.shards())
    site.assert_all_there()


@contextlib.contextmanager
def interrupts_kept() -> Iterator[None]:
    """Gives SIGINT back: dask-jobqueue takes it when it is imported."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


def address_of_this_machine() -> str | None:
    """One that the loopback device does not have."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Nothing is sent: it only asks which address would be the sender's.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


def test_a_worker_that_no_host_is_named_like_is_told(site: Site, client: object) -> None:
    site.fill(3)
    plan = site.plan(here="me@here.example.org")
    campaign = tl.Campaign.plan(plan, site.folder / "campaign", host="here")
    with (
        pytest.raises(tl.NotFinished, match="no worker is named like here nor far"),
        pytest.warns(RuntimeWarning, match="waits up to 1 s for a worker: no worker is named"),
    ):
        campaign.run_on(client, wait_for_workers=1)
    with pytest.raises(tl.NotFinished, match="no worker is named like here nor far"):
        campaign.run_on(client, wait_for_workers=0)


def test_workers_may_come_later(site: Site) -> None:
    """As those of a batch system do."""
    from distributed import Client, LocalCluster

    site.fill(15)
    campaign = site.planned()
    with (
        LocalCluster(n_workers=0, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
        pytest.warns(RuntimeWarning, match="for a worker: the cluster has no workers"),
    ):
        threading.Timer(2, cluster.scale, [2]).start()
        done = campaign.run_on(client)
    assert len(done.done) == len(campaign.shards())
    site.assert_all_there()


@pytest.mark.timeout(180)
def test_workers_that_die_lose_nothing(
    site: Site, client: object, drawn: random.Random
) -> None:
    site.fill(60, size=200_000)
    campaign = site.planned(link='rate = "40Mbit/s"')
    is_over = threading.Event()

    def kill() -> None:
        for _ in range(3):
            if is_over.wait(drawn.uniform(0.1, 0.8)):
                return
            if workers := list(client.run(os.getpid).values()):
                os.kill(drawn.choice(workers), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        done = campaign.run_on(client)
    finally:
        is_over.set()
        killer.join()
    assert len(done.done) == len(campaign.shards())
    site.assert_all_there()


@pytest.mark.timeout(180)
def test_a_scheduler_that_dies_ends_the_run_and_another_one_goes_on(
    site: Site, tmp_path: Path
) -> None:
    from distributed import Client

    site.fill(30, size=100_000)
    # What is left is sent without a bound.
    campaign = site.planned(link='rate = "500kbit/s"')
    with OwnCluster(tmp_path) as cluster:
        site.once_it_runs(campaign, cluster.scheduler.kill)
        # It looks for a scheduler that is gone for as long as for one at first.
        client = Client(cluster.address, timeout=6)
        client.wait_for_workers(1)
        with pytest.raises(tl.NotFinished, match="the cluster is gone") as raised:
            campaign.run_on(client)
        assert "the same call goes on" in str(raised.value)
        client.close(timeout=1)
        # Its tasks have no scheduler to ask, and end.
        while campaign.status().running:
            time.sleep(0.1)
    site.planned(link="")
    with OwnCluster(tmp_path) as cluster, Client(cluster.address, timeout=20) as client:
        client.wait_for_workers(1)
        campaign.run_on(client)
    site.assert_all_there()


@pytest.mark.timeout(120)
def test_a_host_that_is_busy_leaves_the_link_to_others(site: Site, tmp_path: Path) -> None:
    from distributed import Client

    site.fill(80, size=100_000)
    second = f'other = {{ from = "there:{site.source}", to = "far:/other", link = "wan" }}'
    plan = site.plan(here="me@here.example.org", link="copies = 4", second=second)
    there = '[hosts.there]\naddress = "me@there.example.org"\n[hosts.here]'
    plan.write_text(plan.read_text().replace("[hosts.here]", there).replace("copies = 2\n", ""))
    for host in ("here", "there"):
        campaign = tl.Campaign.plan(plan, site.folder / "campaign", host=host)
    order = [shard.group for shard in campaign.shards()]
    assert order == sorted(order) and len(order) >= 16
    with OwnCluster(tmp_path, "here", "there") as cluster, Client(cluster.address) as client:
        client.wait_for_workers(2, timeout=30)
        done = campaign.run_on(client)
    first = [shard.split("-")[0] for shard in done.done][:8]
    assert set(first) == {"raw", "other"}, done.done


@pytest.mark.timeout(120)
def test_a_worker_that_comes_back_elsewhere_goes_on(site: Site, tmp_path: Path) -> None:
    """It has another address then, and Dask would wait for the old one."""
    from distributed import Client

    site.fill(30, size=100_000)
    campaign = site.planned(link='rate = "8Mbit/s"')
    with OwnCluster(tmp_path) as cluster:

        def replace() -> None:
            cluster.workers[0].kill()
            cluster.workers[0].wait()
            cluster.workers.append(cluster.start_worker())

        replaced = site.once_it_runs(campaign, replace)
        with Client(cluster.address, timeout=20) as client:
            client.wait_for_workers(1)
            done = campaign.run_on(client)
        replaced.join()
    assert done.workers_lost >= 1 and done.left == {}
    site.assert_all_there()


def test_an_interrupt_ends_all_tasks_cleanly(site: Site, client: object) -> None:
    site.fill(20, size=200_000)
    campaign = site.planned(link='rate = "2Mbit/s"')
    site.once_it_runs(campaign, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        campaign.run_on(client)
    assert campaign.status().running == []
    site.planned(link="")
    campaign.run_on(client)
    site.assert_all_there()
