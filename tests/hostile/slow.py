"""Clients that take their time: the device waits for as long as it says, and not for longer."""

import functools
import threading
import time

from client import call

# A slow client sends or reads a byte this often.
DRIP_SECONDS = 0.4
# The machine is shared: a deadline may be that late.
SLACK_SECONDS = 4


def drip(world, request, limit, allowed, first=1):
    """Sends a request byte by byte. It must be refused, not before and not long behind the deadline."""
    with world.target.connect() as connection:
        connection.send(request[:first])
        begun, at = time.monotonic(), first
        connection.sock.settimeout(DRIP_SECONDS)
        while True:
            try:
                if connection._more():
                    break
                raise AssertionError("it hung up without a word")
            except TimeoutError:
                pass
            passed = time.monotonic() - begun
            assert passed < limit + SLACK_SECONDS, f"it still waits after {passed:.0f} s"
            connection.try_send(request[at:at + 1])
            at += 1
        took = time.monotonic() - begun
        answer = connection.answer()
        assert answer.status in allowed and answer.is_last(), answer
        assert took > 0.7 * limit, f"it waits {took:.1f} s only"
        assert connection.is_ended(5)
        return answer


def a_slow_head_gets_408(world):
    answer = drip(world, world.target.get("/" + 500 * "x"), world.times["head"], [408])
    assert answer.field("content-type") == "application/json" and answer.json()["error"], answer


def a_slow_body_behind_its_head_gets_408(world):
    body = world.target.post(call("GetTask", {"id": 100 * "x"}))
    drip(world, body, world.times["head"], [408], first=len(body) - 60)


def a_slow_large_body_gets_408(world):
    # Larger than what fits behind a head: it has one of the shared buffers, and a deadline of its own.
    request = world.target.post(call("GetTask", {"id": (world.body_max - 200) * "x"}))
    answer = drip(world, request, world.times["body"], [408], first=request.index(b"\r\n\r\n") + 400)
    assert answer.code() in (-32600, -32700), answer


def while_a_large_body_dawdles_small_ones_are_served(world):
    request = world.target.post(call("GetTask", {"id": (world.body_max - 200) * "x"}))
    with world.target.connect() as dawdler:
        dawdler.send(request[:600])
        for _ in range(5):
            took = world.timed()
            assert took < world.bound, took
        # Another large one waits for the buffer, where there is only one, and is told so.
        other = world.ask(request)
        assert other.status == 503 and other.field("retry-after") or other.status == 200, other


def a_silent_connection_is_closed(world):
    with world.target.connect() as connection:
        begun = time.monotonic()
        assert connection.is_ended(world.times["head"] + SLACK_SECONDS), "it waits on"
        assert time.monotonic() - begun > 0.7 * world.times["head"]


def an_idle_connection_is_closed(world):
    limit = world.times["idle"]
    if limit > 10:
        # It is the same code with a larger number: that it is kept for a while must do.
        limit = 3
    with world.target.connect() as connection:
        answer = connection.send(world.target.get("/status")).answer(method="GET")
        assert answer.status == 200 and not answer.is_last(), answer
        begun = time.monotonic()
        is_ended = connection.is_ended(limit + (SLACK_SECONDS if limit == world.times["idle"] else 0))
        assert is_ended == (limit == world.times["idle"]), f"after {time.monotonic() - begun:.1f} s"


def an_expectation_is_not_waited_for_beyond_the_deadline(world):
    body = world.target.post(call("GetTask", {"id": 100 * "x"}), fields=["Expect: 100-continue"])
    head = body[:body.index(b"\r\n\r\n") + 4]
    with world.target.connect() as connection:
        first = connection.send(head).answer(skip_continue=False)
        assert first.status == 100, first
        last = connection.answer(world.times["head"] + SLACK_SECONDS)
        assert last.status == 408 and last.is_last(), last


def stalled(world, connection):
    """A reader has stopped reading what is made for ever: it must be cut off, and what it held must come back."""
    deadline = time.monotonic() + world.times["write"] + 2 * SLACK_SECONDS
    assert world.honest.status()["readers"]["used"] > world.readers
    while world.honest.status()["readers"]["used"] > world.readers:
        assert time.monotonic() < deadline, "it still has its place"
        took = world.timed()
        assert took < world.bound, f"meanwhile an honest client waits {took:.2f} s"
        time.sleep(0.5)
    connection.close()


def a_reader_that_stops_reading_a_stream_is_cut_off(world):
    connection = world.honest.stream("watch temperature every 1 ms for 120 seconds", receive_bytes=2048)
    number, first = next(connection.events())
    task_id = first["result"]["task"]["id"]
    try:
        stalled(world, connection)
    finally:
        world.cancel(task_id)


def a_stream_whose_client_hung_up_gives_its_place_back(world):
    connection = world.honest.stream("watch temperature every 50 ms for 60 seconds")
    _, first = next(connection.events())
    connection.close()
    try:
        world.wait("readers", lambda: world.honest.status()["readers"]["used"], world.readers, 5)
    finally:
        world.cancel(first["result"]["task"]["id"])


def a_quiet_stream_lives_and_its_client_may_vanish(world):
    # Nothing happens on it: only the comments in between tell the device that nobody is there.
    connection = world.honest.stream("alert when temperature above 2000")
    _, first = next(connection.events())
    try:
        time.sleep(4)
        assert world.honest.status()["readers"]["used"] == world.readers + 1
        if not connection.vanish():
            connection.reset()
        # The next comment or the one behind meets nobody.
        world.wait("readers", lambda: world.honest.status()["readers"]["used"], world.readers, 15)
    finally:
        world.cancel(first["result"]["task"]["id"])


def a_document_read_byte_by_byte_comes_whole(world):
    request = world.target.post(call("ListTasks", {"includeArtifacts": True, "historyLength": 10, "pageSize": 50}))
    with world.target.connect(receive_bytes=2048) as connection:
        connection.send(request)
        # Slow at first, then in a hurry: a slow reader is no enemy as long as it reads.
        for _ in range(10):
            connection.rest += connection.sock.recv(16)
            time.sleep(0.1)
        answer = connection.answer()
    assert answer.status == 200 and len(answer.json()["result"]["tasks"]) > 0, answer


def a_document_that_nobody_reads_is_given_up(world):
    request = world.target.post(call("ListTasks", {"includeArtifacts": True, "historyLength": 10, "pageSize": 50}))
    with world.target.connect(receive_bytes=2048) as connection:
        # Again and again, so that it does not all fit into what lies between us.
        begun = time.monotonic()
        connection.sock.settimeout(1)
        try:
            for _ in range(2000 if world.kind == "host" else 100):
                connection.send(request)
        except (TimeoutError, ConnectionError):
            pass
        # A dozen others are served meanwhile.
        while time.monotonic() - begun < 3:
            assert world.timed() < world.bound
        time.sleep(max(0, begun + world.times["write"] + SLACK_SECONDS - time.monotonic()))
        # It must be over by now: what was on its way comes, and then nothing.
        assert connection.is_ended(5), "it still waits for its reader"


def at_once(*functions):
    """Does several slow things at the same time: each waits for a deadline of the device."""
    failures = []

    def one(function):
        try:
            function()
        except (AssertionError, OSError) as error:
            failures.append(f"{error!r}")

    threads = [threading.Thread(target=one, args=[function]) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def slow_heads_and_bodies(world):
    at_once(*(functools.partial(each, world) for each in [
        a_slow_head_gets_408, a_slow_body_behind_its_head_gets_408,
        an_expectation_is_not_waited_for_beyond_the_deadline]))


def silence_and_a_slow_large_body(world):
    at_once(*(functools.partial(each, world) for each in [
        a_silent_connection_is_closed, an_idle_connection_is_closed, a_slow_large_body_gets_408]))


def readers_that_stop_reading_are_cut_off(world):
    at_once(*(functools.partial(each, world) for each in [
        a_reader_that_stops_reading_a_stream_is_cut_off, a_document_that_nobody_reads_is_given_up]))


readers_that_stop_reading_are_cut_off.evicts = True


def many_slow_ones_at_once(world):
    """As many as one may have, all but one: the last one serves everybody else."""
    done = threading.Event()

    def others():
        time.sleep(0.5)
        while not done.is_set():
            took = world.timed()
            assert took < world.bound, took
            time.sleep(0.2)

    def slow_one():
        drip(world, world.target.get("/" + 200 * "x"), world.times["head"], [408])

    def slow_ones():
        try:
            at_once(*([slow_one] * (min(world.connections, 8) - 1)))
        finally:
            done.set()

    at_once(slow_ones, others)


CASES = [
    slow_heads_and_bodies,
    silence_and_a_slow_large_body,
    readers_that_stop_reading_are_cut_off,
    while_a_large_body_dawdles_small_ones_are_served,
    a_stream_whose_client_hung_up_gives_its_place_back,
    a_quiet_stream_lives_and_its_client_may_vanish,
    a_document_read_byte_by_byte_comes_whole,
    many_slow_ones_at_once,
]
