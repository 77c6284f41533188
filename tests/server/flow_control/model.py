"""Naive model of fair queueing for comparison with `QueueSet`: plain lists, and sums computed again on each call."""

from dataclasses import dataclass, field

SERVICE_S = 0.003


@dataclass(eq=False)
class Job:
    """A request."""

    queue: int
    seats: int
    arrival_r: float
    started: float = 0.0
    state: str = "waiting"

    @property
    def work(self) -> float:
        return self.seats * SERVICE_S


@dataclass
class Model:
    """Queues without a limit of their length; each request names its queue."""

    queues: int
    limit: int
    now: float = 0.0
    r: float = 0.0
    robin: int = 0
    next_r: list[float] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.next_r = [0.0] * self.queues

    def of(self, state: str, queue: int | None = None) -> list[Job]:
        """Jobs in this state, in the order of their arrival."""
        return [job for job in self.jobs if job.state == state and queue in (None, job.queue)]

    def advance(self, seconds: float) -> None:
        """Virtual time passes as fast as each active queue is served."""
        active = sum(1 for queue in range(self.queues) if self.of("waiting", queue) or self.of("running", queue))
        desired = sum(job.seats for job in [*self.of("waiting"), *self.of("running")])
        if active:
            self.r += seconds * min(desired, self.limit) / active
        self.now += seconds

    def start(self, queue: int, seats: int) -> Job:
        """A request arrives."""
        if not self.of("waiting", queue) and not self.of("running", queue):
            self.next_r[queue] = self.r
        job = Job(queue, seats, self.r)
        self.jobs.append(job)
        self._settle(queue)
        self._dispatch()
        return job

    def finish(self, job: Job) -> None:
        """A request that runs has been answered."""
        job.state = "done"
        self.next_r[job.queue] -= job.seats * (SERVICE_S - (self.now - job.started))
        self._settle(job.queue)
        self._dispatch()

    def leave(self, job: Job) -> None:
        """A request that waits gives up."""
        job.state = "done"
        self._settle(job.queue)

    def _settle(self, queue: int) -> None:
        waiting = self.of("waiting", queue)
        if waiting:
            self.next_r[queue] = max(self.next_r[queue], waiting[0].arrival_r)

    def _dispatch(self) -> None:
        while self.of("waiting"):
            used = sum(job.seats for job in self.of("running"))
            if used >= self.limit:
                return
            best: Job | None = None
            for step in range(self.queues):
                waiting = self.of("waiting", (self.robin + 1 + step) % self.queues)
                if waiting and (best is None or self._finish_of(waiting[0]) < self._finish_of(best)):
                    best = waiting[0]
            assert best is not None
            alone = best.seats > self.limit and not self.of("running")
            if not alone and used + best.seats > self.limit:
                return
            self.robin = best.queue
            best.state, best.started = "running", self.now
            self.next_r[best.queue] += best.work
            self._settle(best.queue)

    def _finish_of(self, job: Job) -> float:
        return self.next_r[job.queue] + job.work
