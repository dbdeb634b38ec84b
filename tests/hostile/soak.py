#!/usr/bin/env python3
"""An hour's worth of mixed work in minutes, over a network that loses, delays and reorders:

    tests/hostile/soak.py BASE_URL [OPERATIONS]
    tests/hostile/wire.py --loss 1 --reorder 2 --twice 1 --delay 1 --jitter 3 \\
        tests/with-board.sh arm tests/hostile/soak.py

A busy household asks its node something every second and a half: that makes 2400 operations an hour, and so many are
done unless another number is given. They are readings, watches, streams that are cut and taken up again, alerts,
cancels, calibrations, all dialects, mistakes, and hostile bits between them, from several clients at once. Each is
checked. When all is done, memory, sockets, readers and blocks of the log must be where they were at the beginning.
Standard library only.
"""

import json
import random
import subprocess
import sys
import threading
import time

from client import Broken, Honest, Target, call, message
from world import World

HOUR_OPERATIONS = 2400
CLIENTS = 4
PATIENCE_SECONDS = 60
# The address of clients that vanish: it is taken away while they are connected.
GONE = "10.0.2.99"


class Client:
    """One of the clients: what it does, with chances of its own."""

    def __init__(self, world, number):
        self.world, self.target = world, world.target
        self.honest = Honest(world.target)
        self.random = random.Random(number)
        # What had to be done again: refused, reset, or never answered.
        self.again = {}
        self.doing = ""

    def call(self, method, params):
        """Makes a call that is to succeed, however long that takes."""
        return self.patiently(lambda: self.honest.call(method, params, patience=PATIENCE_SECONDS))

    def patiently(self, do):
        """Does something again where nobody took the connection (there are a handful of sockets), or where it was cut:
        a document in the middle of which a task had to go is. The reset that says so may be lost."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return do()
            except (ConnectionRefusedError, ConnectionResetError, TimeoutError) as error:
                if time.monotonic() > deadline:
                    raise
                what = f"{self.doing}: {type(error).__name__}"
                self.again[what] = self.again.get(what, 0) + 1
                time.sleep(0.2)

    def send(self, text, is_long=False, **more):
        return self.patiently(lambda: self.honest.send(text, is_long, **more))

    # The work of an honest client.

    def read(self):
        task = self.send("read temperature")
        assert task["status"]["state"] == "TASK_STATE_COMPLETED", task
        [data] = [part["data"] for part in task["artifacts"][0]["parts"] if "data" in part]
        assert -60 < data["value"] < 90, data

    def read_in_older_dialects(self):
        parts = [{"kind": "text", "text": "read temperature"}]
        task = self.call("message/send", {"message": {"kind": "message", "messageId": "m", "role": "user",
                                                      "parts": parts}})
        assert task["status"]["state"] == "completed" and len(task["artifacts"]) == 1, task
        name = f"soak-{self.random.getrandbits(64):x}"
        parts = [{"type": "text", "text": "read temperature"}]
        task = self.call("tasks/send", {"id": name, "message": {"role": "user", "parts": parts}})
        assert task["id"] == name and task["status"]["state"] == "completed", task

    def talk(self):
        # A message, or a task where no worker was free to say that it is none.
        answer = self.send("hello")
        assert "sensor node" in json.dumps(answer) or answer["status"]["state"] == "TASK_STATE_SUBMITTED", answer

    def look(self):
        tasks = self.call("ListTasks", {"pageSize": 50, "includeArtifacts": True, "historyLength": 5})["tasks"]
        assert set(self.world.live) <= {task["id"] for task in tasks}, "a live task is gone"
        status = self.patiently(self.honest.status)
        assert status["tasks"]["used"] <= status["tasks"]["all"], status

    def fetch_card(self):
        get = lambda *fields: self.patiently(
            lambda: self.honest.ask(self.target.get("/.well-known/agent-card.json", fields=fields), method="GET"))
        card = get()
        assert card.status == 200 and card.json()["name"], card
        assert get(f"If-None-Match: {card.field('etag')}").status == 304

    def several_on_one_connection(self):
        bodies = [call("GetTask", {"id": task_id}, task_id) for task_id in self.world.live]
        requests = [self.target.post(body) for body in bodies]
        answers = self.patiently(lambda: self.honest.ask_all(requests))
        assert [answer.json()["result"]["id"] for answer in answers] == self.world.live, answers

    def begin(self, method, params, fields=()):
        """Begins a stream when there is room for it. None if its task is not there."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            connection = self.patiently(self.target.connect)
            try:
                connection.send(self.target.post(call(method, params), fields=fields))
                head = connection.answer_head()
            except ConnectionResetError:
                connection.close()
                continue
            if head.field("content-type") == "text/event-stream":
                return connection
            if head.field("retry-after") is None:
                error = json.loads(connection.sock.recv(65536) if not connection.rest else connection.rest)["error"]
                connection.close()
                assert error["code"] == -32001, error
                return None
            connection.close()
            assert time.monotonic() < deadline, head
            time.sleep(float(head.field("retry-after")) * self.random.random())

    def watch(self):
        times = self.random.randint(2, 6)
        connection = self.begin("SendStreamingMessage", message(f"watch temperature {times} times every 40 ms"))
        self.follow(connection, [], times)

    def follow(self, connection, seen, times):
        """Reads a stream to its end and checks all of it. One that breaks is taken up behind the last event, as often as
        it takes: a task that has ended goes when others need its place, readers or not."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while connection:
            try:
                with connection:
                    for event in connection.events():
                        seen.append(event)
                return self.check(seen, times)
            except (ConnectionResetError, TimeoutError) as error:
                if not seen or time.monotonic() > deadline:
                    raise
                what = f"{self.doing}: {type(error).__name__}"
                self.again[what] = self.again.get(what, 0) + 1
            connection = self.take_up(seen)

    def take_up(self, seen):
        """A stream behind the last event that was seen; None if its task is no longer there."""
        task_id = seen[0][1]["result"]["task"]["id"]
        return self.begin("SubscribeToTask", {"id": task_id}, [f"Last-Event-ID: {seen[-1][0]}"])

    def check(self, events, times):
        """A stream is whole: in order, nothing twice, as many chunks as readings, and an end."""
        numbers = [number for number, _ in events]
        assert numbers == sorted(set(numbers)), numbers
        results = [event["result"] for _, event in events]
        chunks = [result["artifactUpdate"] for result in results if "artifactUpdate" in result]
        assert len(chunks) == times and chunks[-1]["lastChunk"], f"{len(chunks)} of {times}: {results}"
        assert results[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED", results[-1]

    def watch_and_come_back(self):
        """The stream breaks in the middle; taken up behind the last event nothing is lost."""
        times = 6
        connection = self.begin("SendStreamingMessage", message(f"watch temperature {times} times every 60 ms"))
        events = connection.events()
        seen = [next(events) for _ in range(4)]
        if self.random.random() < 0.5:
            connection.reset()
        else:
            connection.close()
        # It may have ended long ago, and others needed its place: they are many, and the table is small.
        self.follow(self.take_up(seen), seen, times)

    def alert_and_cancel(self):
        task = self.send("alert when temperature above 1000", is_long=True)
        if self.is_too_much(task):
            return
        assert task["status"]["state"] in ("TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"), task
        task = self.call("CancelTask", {"id": task["id"]})
        assert task["status"]["state"] == "TASK_STATE_CANCELED", task

    def is_too_much(self, task):
        """Some workers are kept free of tasks that may take for ever: a clear no is a good answer, too."""
        words = [part.get("text", "") for part in task["status"].get("message", {}).get("parts", [])]
        return task["status"]["state"] == "TASK_STATE_REJECTED" and "cancel one of them first" in words[0]

    def alert_that_comes(self):
        task = self.send("alert when temperature above -200")
        assert self.is_too_much(task) or task["status"]["state"] == "TASK_STATE_COMPLETED", task

    def calibrate(self):
        asked = self.send("calibrate temperature")
        assert asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED", asked
        done = self.send("21.5", taskId=asked["id"], contextId=asked["contextId"])
        assert done["status"]["state"] == "TASK_STATE_COMPLETED", done

    # Mistakes.

    def make_a_mistake(self):
        body, wanted = self.random.choice([
            (b"{", -32700), (b"[]", -32600), (call("dance", {}), -32601), (call("GetTask", {}), -32602),
            (call("GetTask", {"id": "nobody"}), -32001), (call("CancelTask", {"id": "nobody"}), -32001),
        ])
        answer = self.patiently(lambda: self.honest.ask(self.target.post(body)))
        assert answer.status == 200 and answer.code() == wanted, answer
        answer = self.patiently(lambda: self.honest.ask(self.target.get("/nowhere"), method="GET"))
        assert answer.status == 404, answer

    # Hostile bits: whatever is answered, nothing may come of it. Their sockets may be refused.

    def be_hostile(self):
        way = self.random.choice([self._garbage, self._leave_early, self._hang, self._flood, self._leave_a_stream,
                                  self._smuggle])
        try:
            way()
        except OSError:
            pass

    def _garbage(self):
        with self.target.connect() as connection:
            connection.try_send(self.random.randbytes(self.random.randint(1, 3000))).is_ended(10)

    def _leave_early(self):
        request = self.target.post(call("SendMessage", message("hello " + 2000 * "x")))
        connection = self.target.connect().send(request[:self.random.randint(1, len(request))])
        connection.reset() if self.random.random() < 0.5 else connection.close()

    def _hang(self):
        with self.target.connect() as connection:
            connection.send(b"POST / HTTP/1.1\r\nHost: x")
            time.sleep(self.random.random() * 2)

    def _flood(self):
        held = []
        try:
            for _ in range(6):
                held.append(self.target.connect(timeout=3))
            time.sleep(0.3)
        finally:
            for connection in held:
                connection.close()

    def _leave_a_stream(self):
        connection = self.begin("SendStreamingMessage", message("watch temperature 20 times every 20 ms"))
        connection.sock.recv(100)
        connection.reset()

    def _smuggle(self):
        with self.target.connect() as connection:
            fields = b"Host: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
            connection.try_send(b"POST / HTTP/1.1\r\n" + fields + b"0\r\n\r\n").is_ended(10)

    # How often each of them is done.
    WEIGHTS = [
        (read, 30), (read_in_older_dialects, 8), (talk, 8), (look, 10), (fetch_card, 5), (several_on_one_connection, 8),
        (watch, 7),
        (watch_and_come_back, 4), (alert_and_cancel, 6), (alert_that_comes, 2), (calibrate, 1), (make_a_mistake, 6),
        (be_hostile, 7),
    ]

    def do_something(self):
        [operation] = self.random.choices(*zip(*self.WEIGHTS))
        self.doing = operation.__name__
        operation(self)
        return self.doing


class Vanishing:
    """Clients that are gone from the network in the middle of what they do: their address is taken away."""

    def __init__(self, world):
        self.world, self.held = world, []

    def happen(self):
        ip = lambda word: subprocess.run(["ip", "address", word, f"{GONE}/24", "dev", "cable"], capture_output=True,
                                         check=False)
        if ip("add").returncode != 0:
            return False
        target = self.world.target
        stream = target.post(call("SendStreamingMessage", message("watch temperature 100 times every 50 ms")))
        for data in [stream, stream[:50], b""]:
            try:
                self.held.append(target.connect(GONE, timeout=5).send(data))
            except OSError:
                pass
        time.sleep(1)
        ip("del")
        return True


def work(world, count, done, again, failures):
    """All clients do something until enough is done."""
    lock = threading.Lock()

    def one(number):
        client = Client(world, number)
        client.again = again
        while not failures:
            with lock:
                if sum(done.values()) >= count:
                    return
            try:
                name = client.do_something()
            except (AssertionError, OSError, KeyError, ValueError, IndexError) as error:
                failures.append(f"{error!r}")
                raise
            with lock:
                done[name] = done.get(name, 0) + 1

    threads = [threading.Thread(target=one, args=[number]) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    return threads


def tables(world):
    """What is in use when nobody does anything: tables, sockets, the deepest stack so far."""
    world.fill()
    status = world.honest.status()
    # On a bad network a client that has gone is noticed a little later now and then.
    connections = max(world.count_connections() for _ in range(5))
    return {"readers": status["readers"]["used"], "tasks": status["tasks"]["used"],
            "blocks": status["logBlocks"]["used"],
            "stack": status.get("stackBytes", {}).get("deepest", 0), "connections": connections}


def main():
    urls = [word for word in sys.argv[1:] if word.startswith("http://")]
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    if len(urls) != 1:
        sys.exit(__doc__)
    count = numbers[0] if numbers else HOUR_OPERATIONS
    world = World(Target(urls[0]))
    # Everything once, so that the stack has been as deep as it gets.
    warm = Client(world, 0)
    for operation, _ in Client.WEIGHTS:
        operation(warm)
    before, live = tables(world), world.snapshot(world.live)
    uptime = world.honest.status()["uptimeMs"]
    print(f"{world.board}: an answer takes {1000 * world.usual:.0f} ms; at the beginning {json.dumps(before)}",
          flush=True)

    begun, done, again, failures = time.monotonic(), {}, {}, []
    vanishing = Vanishing(world)
    threads = work(world, count, done, again, failures)
    told = vanished = 0
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.5)
        if time.monotonic() - begun > 20 * (told + 1):
            told += 1
            print(f"   {sum(done.values())} of {count} operations after {time.monotonic() - begun:.0f} s", flush=True)
            # Early, so that there is time to find out.
            if sum(done.values()) < count / 2:
                vanished += vanishing.happen()
    seconds = time.monotonic() - begun
    print(f"{sum(done.values())} operations in {seconds:.0f} s: {json.dumps(done)}; done again: {json.dumps(again)}; "
          f"clients vanished {vanished} times")
    assert not failures, failures
    silent = sum(times for what, times in again.items() if what.endswith("TimeoutError"))
    assert silent <= count / 100, "too many answers never came"

    # What is left of the hostile ones has its deadlines.
    world.wait("readers", lambda: world.honest.status()["readers"]["used"], before["readers"], 60)
    world.wait("connections", lambda: world.count_connections() >= before["connections"], True, 60)
    after = tables(world)
    print(f"at the end {json.dumps(after)}", flush=True)
    assert world.snapshot(world.live) == live, "the tasks that lived through it have changed"
    assert world.honest.status()["uptimeMs"] > uptime + 900 * seconds, "it has restarted"
    assert after["connections"] == before["connections"], "sockets are missing"
    for name, slack in {"readers": 0, "tasks": 0, "blocks": 4, "stack": 256}.items():
        assert after[name] <= before[name] + slack, f"{name}: {after[name]}, it were {before[name]}"
    took = sorted(world.timed() for _ in range(9))[4]
    assert took < world.bound, f"an answer takes {took:.2f} s now"
    print("everything is where it was")


if __name__ == "__main__":
    try:
        main()
    except Broken as broken:
        sys.exit(f"FAIL {broken}")
    except AssertionError as error:
        sys.exit(f"FAIL {error}")
