"""What every case begins with and must leave as it was: the tasks, the tables, the sockets and the time that an answer
takes."""

import json
import os
import statistics
import time

from client import OTHER_TOKEN, TOKEN, Honest, call, message

# How long the device waits (firmware/src/http/limits.rs), in seconds: for a head, for a body, between requests, for a
# reader, for the last word. "device" is a board, and host-sim with a board's presets.
TIMES = {
    "device": {"head": 5, "body": 10, "idle": 5, "write": 20, "linger": 1},
    "host": {"head": 10, "body": 30, "idle": 60, "write": 20, "linger": 1},
}
BODY_MAX = {"device": 8 * 1024, "host": 1024 * 1024}
# More connections than this are not counted one by one.
COUNTED_CONNECTIONS = 16


class Skip(Exception):
    """The case cannot be run because something was not given to us, and what."""


class Elsewhere(Exception):
    """The case is about something that there is not here, and what."""


class World:
    """The device, an honest client, and how things were."""

    def __init__(self, target):
        self.target = target
        self.honest = Honest(target)
        status = self.honest.status()
        self.board = status["board"]
        self.is_board = self.board != "host-sim"
        self.kind = "device" if status["tasks"]["all"] < 100 else "host"
        self.tasks = status["tasks"]["all"]
        self.times, self.body_max = TIMES[self.kind], BODY_MAX[self.kind]
        self.live = []
        self.prepare()

    def prepare(self):
        """Makes the tasks that must survive everything: two that work, one that asks. A finished one may have to go
        when the table is full, so there is a new one before each case."""
        for text in ["alert when temperature above 1000", "alert when temperature below -300"]:
            self.live.append(self.honest.send(text, is_long=True)["id"])
        self.live.append(self.honest.send("calibrate temperature")["id"])
        self.fill()
        took = [self.timed() for _ in range(15)]
        self.usual = statistics.median(took)
        self.bound = max(20 * self.usual, 2.0)
        status = self.honest.status()
        self.readers = status["readers"]["used"]
        self.blocks = status["logBlocks"]["used"]
        self.connections = self.count_connections()

    def fill(self):
        """Fills a small table with tasks that are all alike: whatever others left behind has to go."""
        if self.kind == "device":
            callers = [Honest(self.target, OTHER_TOKEN), self.honest] if OTHER_TOKEN else [self.honest]
            for caller in callers:
                for _ in range(self.tasks - len(self.live)):
                    caller.send("read temperature")

    def timed(self):
        """How long an honest client waits for a reading of a task and for an answer of the agent."""
        begun = time.monotonic()
        calls = [call("GetTask", {"id": self.live[0]}), call("SendMessage", message("hello"))]
        for answer in self.honest.ask_all([self.target.post(body) for body in calls]):
            assert answer.status == 200 and "result" in answer.json(), answer
        return time.monotonic() - begun

    def cancel(self, task_id):
        """Cancels a task of a case; it may be over by now."""
        answer = self.call("CancelTask", {"id": task_id})
        assert "result" in answer.json() or answer.code() == -32002, answer

    def count_connections(self):
        """How many connections are served at the same time."""
        open_connections = []
        try:
            for _ in range(COUNTED_CONNECTIONS):
                connection = self.target.connect()
                open_connections.append(connection)
                answer = connection.send(self.target.get("/.well-known/agent-card.json")).answer(method="GET")
                if answer.status == 503:
                    assert answer.field("retry-after"), answer
                    break
                # Whether it was too often or not, it was served.
                assert answer.status in (200, 429), answer
            else:
                return COUNTED_CONNECTIONS
            return len(open_connections) - 1
        finally:
            for connection in open_connections:
                connection.leave()

    def snapshot(self, task_ids):
        return json.dumps([self.honest.task(task_id) for task_id in task_ids], sort_keys=True)

    def before(self):
        """Looks at how things are before a case."""
        self.finished = self.honest.send("read temperature")["id"]
        self.kept = self.snapshot(self.live)
        self.kept_finished = self.snapshot([self.finished])
        if self.is_board:
            self.uptime = self.honest.status()["uptimeMs"]

    def after(self, evicts=False):
        """An honest client is served in time, and everything is as it was. `evicts`: the case made so many tasks that a
        finished one may have gone."""
        took = self.timed()
        assert took < self.bound, f"an honest client waits {took:.2f} s, usually {self.usual:.3f} s"
        assert self.snapshot(self.live) == self.kept, "the tasks have changed"
        if not evicts:
            assert self.snapshot([self.finished]) == self.kept_finished, "the finished task has changed"
        listed = self.honest.call("ListTasks", {"pageSize": 100})["tasks"]
        missing = set(self.live) - {task["id"] for task in listed}
        assert self.kind == "host" or not missing, f"not in the list: {missing}"
        self.wait("readers", lambda: self.honest.status()["readers"]["used"], self.readers)
        self.wait("connections", self.count_connections, self.connections)
        if self.kind == "device":
            self.fill()
            blocks = self.honest.status()["logBlocks"]["used"]
            # A reading has one digit more or less now and then.
            assert abs(blocks - self.blocks) <= 4, f"{blocks} blocks of the log are used, it were {self.blocks}"
        if self.is_board:
            uptime = self.honest.status()["uptimeMs"]
            assert uptime > self.uptime, "the board has restarted"

    def wait(self, what, look, wanted, seconds=8):
        """What was used comes back soon after its user has gone: the device has to notice first."""
        deadline = time.monotonic() + seconds
        while (found := look()) != wanted:
            assert time.monotonic() < deadline, f"{what}: {found}, it were {wanted}"
            time.sleep(0.1)

    def ask_once(self, request, **more):
        """Sends bytes on a connection of their own and reads one answer."""
        with self.target.connect() as connection:
            return connection.try_send(request).answer(**more)

    def ask(self, request, **more):
        """The same, and again when it was too often: a case is about something else."""
        for _ in range(20):
            answer = self.ask_once(request, **more)
            if answer.field("retry-after") is None or answer.status == 503:
                break
            time.sleep(float(answer.field("retry-after")))
        return answer

    def call(self, name, params, number=1, **more):
        return self.ask(self.target.post(call(name, params, number), **more))

    def need_token(self):
        if not TOKEN:
            raise Skip("no MOTE_TOKEN: the device is open")

    def log(self):
        """What the device has logged, where whoever started it keeps that."""
        path = os.environ.get("MOTE_LOG")
        if not path:
            raise Skip("no MOTE_LOG: whoever started the device does not keep its log")
        with open(path, encoding="utf-8", errors="surrogateescape") as log:
            return log.read()
