"""Clients in numbers, and clients that leave in the middle."""

import fcntl
import os
import socket
import struct
import threading
import time

from client import call, message
from wire import TAP, checksum
from world import Elsewhere, Skip

# All answers of a crowd must be there by then.
CROWD_SECONDS = 20
# A board waits so long for the end of a handshake (firmware/src/device.rs), in seconds.
HANDSHAKE_SECONDS = 3
# An address in the board's network that nobody has.
NOBODY = "10.0.2.77"
# Linux: <linux/sockios.h>
SIOCGIFHWADDR = 0x8927


def in_a_row(world, count):
    """One connection after the other with a request in each; says how many a second. A small device takes a hundred
    requests a second of one caller; that there were more is an answer, too."""
    say = world.target.post(call("SendMessage", message("hello")), fields=["Connection: close"])
    look = world.target.get("/status", fields=["Connection: close"])
    begun, told, later = time.monotonic(), time.monotonic(), 0
    for number in range(count):
        answer = world.ask_once(look if number % 10 else say)
        assert answer.is_last(), answer
        if answer.field("retry-after"):
            assert answer.status in (200, 429) and answer.json()["error"], answer
            later += 1
        else:
            assert answer.status == 200 and ("result" in answer.json() or number % 10), answer
        if time.monotonic() - told > 20:
            told = time.monotonic()
            print(f"   connection {number} of {count}", flush=True)
    seconds = time.monotonic() - begun
    print(f"   {count} connections in {seconds:.1f} s; {later} were asked to come back", flush=True)
    assert count - later >= min(count, 400), "hardly anybody was served"


def ten_thousand_connections_in_a_row(world):
    in_a_row(world, int(os.environ.get("MOTE_COUNT", "10000")))


def connections_that_come_and_go_without_a_word(world):
    for _ in range(500):
        world.target.connect().close()
    for _ in range(200):
        world.target.connect().reset()


def crowd(world, count, source=None, request=None):
    """That many connections at the same time with a request in each: what became of them."""
    request = request or world.target.get("/status")
    outcomes = []
    ready = threading.Barrier(count)

    def one():
        ready.wait()
        try:
            with world.target.connect(source, timeout=CROWD_SECONDS) as connection:
                answer = connection.try_send(request).answer(CROWD_SECONDS, method="GET")
                outcomes.append((answer.status, answer.field("retry-after") is not None))
        except TimeoutError:
            outcomes.append("hangs")
        except (AssertionError, OSError) as error:
            outcomes.append(repr(error))

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def more_connections_than_sockets_all_get_an_answer(world):
    """Served, or asked to come back; nobody waits for nothing, and nobody is just dropped."""
    for count in [10, 40]:
        outcomes = crowd(world, count)
        wrong = [outcome for outcome in outcomes if outcome not in [(200, False), (503, True), (429, True)]]
        assert not wrong, f"{len(wrong)} of {count}: {set(map(str, wrong))}"
        assert (200, False) in outcomes, outcomes


def held_sockets_are_answered_with_503(world):
    """All sockets are held by clients that say nothing: the next one hears that, at once."""
    if world.connections >= 16:
        raise Elsewhere("there are more sockets than are counted here")
    held = [world.target.connect() for _ in range(world.connections)]
    try:
        time.sleep(0.2)
        for _ in range(3):
            begun = time.monotonic()
            answer = world.ask_once(world.target.get("/status"), method="GET")
            assert answer.status == 503 and answer.field("retry-after"), answer
            assert time.monotonic() - begun < world.bound
            assert answer.field("content-type") == "application/json" and answer.json()["error"], answer
    finally:
        for connection in held:
            connection.leave()


def one_address_does_not_take_all_sockets(world):
    """From one address come more connections than there are sockets, and stay. Another address is served meanwhile."""
    if world.connections >= 16:
        raise Elsewhere("there are more sockets than are counted here")
    greedy, other = other_addresses(world)
    held = []
    try:
        for _ in range(12):
            try:
                held.append(world.target.connect(greedy, timeout=2))
            except OSError:
                break
        time.sleep(1.5)
        with world.target.connect(other) as connection:
            answer = connection.send(world.target.get("/status")).answer(method="GET")
        assert answer.status == 200, f"one address has them all: {answer}"
    finally:
        for connection in held:
            connection.leave()
    time.sleep(1)


def other_addresses(world):
    """Two addresses of ours from which the device can be reached."""
    prefix = {"127.0.0.1": "127.0.0.", "10.0.2.15": "10.0.2."}.get(world.target.host)
    found = []
    for number in [3, 4]:
        with socket.socket() as probe:
            try:
                probe.bind((f"{prefix}{number}", 0))
                found.append(f"{prefix}{number}")
            except OSError:
                pass
    # Behind QEMU's own network every client has the same address.
    if len(found) < 2 or (world.is_board and world.target.host == "127.0.0.1"):
        raise Elsewhere("every client has the same address here: see tests/hostile/wire.py")
    return found


def handshakes_that_are_never_finished_hold_sockets_for_a_moment_only(world):
    """Somebody who does not exist begins more connections than there are sockets."""
    if TAP not in [name for _, name in socket.if_nameindex()]:
        raise Elsewhere("somebody else's TCP is between us and the device: see tests/hostile/wire.py")
    begin_handshakes(world, world.connections + 4)
    begun, tries = time.monotonic(), 0
    while True:
        try:
            # The system knocks again after one second, and then after three: too late to tell.
            with world.target.connect(timeout=0.3) as connection:
                answer = connection.send(world.target.get("/status")).answer(method="GET")
            break
        except TimeoutError:
            tries += 1
            assert time.monotonic() - begun < 2 * HANDSHAKE_SECONDS, "nobody gets in"
    waited = time.monotonic() - begun
    print(f"   nobody got in for {waited:.1f} s", flush=True)
    assert answer.status == 200, answer
    assert tries > 0, "the handshakes have not begun"
    assert waited < HANDSHAKE_SECONDS + 1.5, waited


def begin_handshakes(world, count):
    """Sends the first packet of that many connections from NOBODY, whose answers go nowhere."""
    nobody, board = socket.inet_aton(NOBODY), socket.inet_aton(world.target.host)
    with socket.socket() as probe:
        ours = fcntl.ioctl(probe, SIOCGIFHWADDR, struct.pack("256s", TAP.encode()))[18:24]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as cable:
        cable.bind((TAP, 0))
        # Where it is, so that the board need not ask.
        arp = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 1) + ours + nobody + bytes(6) + board
        cable.send(b"\xff" * 6 + ours + b"\x08\x06" + arp)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        for number in range(count):
            syn = struct.pack(">HHIIBBHHH", 40000 + number, world.target.port, 1, 0, 5 << 4, 0x02, 1024, 0, 0)
            summed = checksum(nobody + board + struct.pack(">HH", socket.IPPROTO_TCP, len(syn)) + syn)
            syn = syn[:16] + struct.pack(">H", summed) + syn[18:]
            # The system fills in what is zero.
            head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 0, 0, 0, 64, socket.IPPROTO_TCP, 0, nobody, board)
            raw.sendto(head + syn, (world.target.host, 0))
            # A network card has room for a few.
            time.sleep(0.02)


def a_request_may_end_with_a_half_closed_connection(world):
    for _ in range(20):
        with world.target.connect() as connection:
            connection.send(world.target.get("/status")).finish()
            assert connection.answer(method="GET").status == 200
            assert connection.is_ended(5)


def a_fin_in_the_head_gets_400(world):
    whole = world.target.post(call("GetTask", {"id": "x"}))
    for end in [1, 10, whole.index(b"\r\n\r\n") + 2]:
        with world.target.connect() as connection:
            connection.send(whole[:end]).finish()
            answer = connection.answer()
            assert answer.status == 400 and answer.is_last(), answer
            assert connection.is_ended(5)


def a_fin_in_the_body_gets_400(world):
    whole = world.target.post(call("GetTask", {"id": "x"}))
    with world.target.connect() as connection:
        connection.send(whole[:-5]).finish()
        answer = connection.answer()
        assert answer.status == 400 and answer.is_last(), answer


def resets_in_the_head_and_the_body(world):
    whole = world.target.post(call("SendMessage", message("hello")))
    large = world.target.post(call("GetTask", {"id": (world.body_max - 300) * "x"}))
    for request in [whole, large]:
        for end in [1, 40, len(request) - 100, len(request) - 1, len(request)]:
            for _ in range(5):
                world.target.connect().send(request[:end]).reset()


def resets_in_the_middle_of_a_stream(world):
    for number in range(12):
        connection = world.honest.stream("watch temperature every 20 ms for 60 seconds")
        events = connection.events()
        _, first = next(events)
        if number % 2:
            next(events)
        connection.reset()
        world.cancel(first["result"]["task"]["id"])


resets_in_the_middle_of_a_stream.evicts = True


def resets_in_the_middle_of_a_document(world):
    request = world.target.post(call("ListTasks", {"includeArtifacts": True, "historyLength": 10, "pageSize": 50}))
    for _ in range(20):
        connection = world.target.connect(receive_bytes=2048)
        connection.send(request).sock.recv(10)
        connection.reset()


def resets_of_clients_that_wait_for_an_answer(world):
    """A send that waits for its task: the client goes, the task stays, its place comes back."""
    tasks = []
    for _ in range(4):
        connection = world.target.connect()
        connection.send(world.target.post(call("SendMessage",
                                               message("watch temperature for 40 seconds every 1000 ms"))))
        time.sleep(0.2)
        connection.reset()
    world.wait("readers", lambda: world.honest.status()["readers"]["used"], world.readers, 10)
    for task in world.honest.call("ListTasks", {"pageSize": 20})["tasks"]:
        if task["id"] not in world.live and task["status"]["state"] in ("TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"):
            world.cancel(task["id"])
            tasks.append(task["id"])
    assert len(tasks) >= 1, "a client that goes does not take its task with it"


resets_of_clients_that_wait_for_an_answer.evicts = True


def clients_that_vanish(world):
    """Gone without a word on the wire, silent or in the middle of a request."""
    whole = world.target.post(call("SendMessage", message("hello")))
    for end in [0, 20, len(whole) - 4]:
        for _ in range(2):
            connection = world.target.connect()
            if end:
                connection.send(whole[:end])
            if not connection.vanish():
                connection.close()
                raise Skip("only root can vanish")
    # The device's own deadlines find out.
    world.wait("connections", world.count_connections, world.connections, world.times["head"] + 10)


CASES = [
    connections_that_come_and_go_without_a_word,
    more_connections_than_sockets_all_get_an_answer,
    held_sockets_are_answered_with_503,
    one_address_does_not_take_all_sockets,
    handshakes_that_are_never_finished_hold_sockets_for_a_moment_only,
    a_request_may_end_with_a_half_closed_connection,
    a_fin_in_the_head_gets_400,
    a_fin_in_the_body_gets_400,
    resets_in_the_head_and_the_body,
    resets_in_the_middle_of_a_stream,
    resets_in_the_middle_of_a_document,
    resets_of_clients_that_wait_for_an_answer,
    clients_that_vanish,
    ten_thousand_connections_in_a_row,
]
