#!/usr/bin/env python3
"""What an operator has of a device: /metrics, by the parser of Prometheus's own client, /status and /log.

    tests/operations/run.sh BASE_URL        host-sim --preset pico or a board, which nobody else uses meanwhile

Environment: MOTE_TOKEN, the token of somebody who may do everything; MOTE_OTHER_TOKEN, of somebody who may only read.
"""

import json
import sys
import threading
import time

from device import OTHER_TOKEN, TOKEN, Device
from scrape import Scrape

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def scrape(device, token=TOKEN):
    return Scrape(device.get("/metrics", token))


def everything_has_its_place(device):
    families = scrape(device).families
    for name in ["mote_requests", "mote_faults", "mote_tasks", "mote_received_bytes", "mote_table_most", "mote_reset_info"]:
        assert name in families, name
    states = {sample.labels["state"] for sample in families["mote_tasks"].samples}
    assert states == {sample.labels["state"] for sample in families["mote_task_moves"].samples} and len(states) == 8
    asked = {(it.labels["dialect"], it.labels["method"]) for it in families["mote_requests"].samples}
    assert {("1.0", "list"), ("0.3", "send"), ("0.1", "send"), ("1.0", "unknown")} <= asked, asked
    assert ("0.1", "list") not in asked, "0.1 has no list"


def counts_are_exact(device):
    unique = f"operations-{time.time_ns()}"
    # Each connection is counted when it has ended, which the device may notice a moment later.
    time.sleep(2)
    before, sent_before = scrape(device), device.sent_bytes
    for _ in range(5):
        answer = device.send_1_0("read temperature").json()
        assert answer["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED", answer
    for _ in range(4):
        assert device.send_0_3("read temperature").json()["result"]["status"]["state"] == "completed"
    for number in range(2):
        assert device.send_0_1("read temperature", f"{unique}-{number}").json()["result"]["status"]["state"] == "completed"
    assert "message" in device.send_1_0("hello").json()["result"]
    for _ in range(3):
        assert device.post(b"{no json").json()["error"]["code"] == -32700
    for _ in range(2):
        assert device.call("NoSuchMethod", {}).json()["error"]["code"] == -32601
    assert device.call("GetTask", {"id": unique}).json()["error"]["code"] == -32001
    assert device.call("ListTasks", {}).status == 200
    stream = device.send_1_0("watch temperature 3 times every 10 ms", "SendStreamingMessage").text()
    events = sum(line.startswith("data:") for line in stream.splitlines())
    assert events >= 5, stream
    for path in ["/nothing", "/nothing?x=1", "/Status"]:
        assert device.get(path).status == 404
    assert device.get("/status", token="").status == 401
    assert device.get("/metrics", token="a-token-that-nobody-has").status == 401
    assert device.ask("DELETE", "/").status == 405
    assert device.get("/log?after=soon").status == 400
    assert device.post({}, Content_Type="text/plain").status == 415
    assert device.send_1_0("read temperature", token="").status == 401
    after, sent_after = scrape(device), device.sent_bytes
    grown = after.since(before)

    def only(family, wanted):
        """Exactly these series of a family have grown."""
        found = {tuple(sorted(dict(labels).values())): by for (name, labels), by in grown.items() if name == family}
        wanted = {tuple(sorted(labels)): by for labels, by in wanted.items()}
        assert found == wanted, f"{family}: {found} instead of {wanted}"

    # The refusal of what is no JSON by its media type is in no dialect but the usual one, and is no call.
    only("mote_requests_total", {
        ("1.0", "send", "ok"): 6, ("0.3", "send", "ok"): 4, ("0.1", "send", "ok"): 2, ("0.3", "unknown", "error"): 4,
        ("1.0", "unknown", "error"): 2, ("1.0", "get", "error"): 1, ("1.0", "list", "ok"): 1, ("1.0", "stream", "ok"): 1,
        ("1.0", "send", "error"): 1,
    })
    only("mote_faults_total", {
        ("parse",): 3, ("method_not_found",): 2, ("task_not_found",): 1, ("content_type_not_supported",): 1,
        ("unauthenticated",): 1,
    })
    only("mote_http_refusals_total", {
        ("path",): 3, ("stranger",): 2, ("method",): 1, ("argument",): 1, ("media_type",): 1,
    })
    # The scrape before is among those that were answered, and so is neither of the two in both.
    only("mote_http_responses_total", {
        ("200",): 6 + 4 + 2 + 3 + 2 + 1 + 1 + 1 + 1, ("400",): 1, ("401",): 3, ("404",): 3, ("405",): 1, ("415",): 1,
    })
    only("mote_tasks_created_total", {(): 13})
    only("mote_replies_total", {(): 1})
    only("mote_stream_events_total", {(): events})
    moves = {dict(labels)["state"]: by for (name, labels), by in grown.items() if name == "mote_task_moves_total"}
    assert (moves["submitted"], moves["completed"]) == (13, 12) and "failed" not in moves, moves
    received = grown["mote_received_bytes_total", frozenset()]
    assert received == sent_after - sent_before, f"{received} instead of {sent_after - sent_before} bytes"
    assert grown["mote_sent_bytes_total", frozenset()] > len(before.text) + len(stream)


def scrapes_under_load_are_whole(device):
    stop, trouble = threading.Event(), []

    def work(what):
        own = device.patient()
        while not stop.is_set():
            try:
                what(own)
            except Exception as error:  # noqa: BLE001, told at the end
                trouble.append(error)

    watch = lambda own: own.send_1_0("watch temperature 3 times every 20 ms", "SendStreamingMessage")
    workers = [
        threading.Thread(target=work, args=(what,))
        for what in [lambda own: own.send_0_3("read temperature"), watch, lambda own: own.log()]
    ]
    for worker in workers:
        worker.start()
    # One connection more than the device may still be saying goodbye to: it may be full for a moment.
    last, scraper = None, device.patient()
    try:
        for _ in range(20):
            now = scrape(scraper)
            if last:
                for key, value in now.counters().items():
                    assert value >= last[key], f"{key} went back from {last[key]} to {value}"
            last = now.counters()
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert not trouble, trouble


def tables_have_high_water_marks(device):
    status = device.get("/status").json()
    now = scrape(device)
    names = {"tasks": "tasks", "logBlocks": "log_blocks", "workers": "workers", "readers": "readers",
             "push": "push_configs", "connections": "connections", "bodies": "body_buffers"}
    for member, table in names.items():
        usage = status[member]
        assert 0 <= usage["used"] <= usage["most"] <= usage["all"] and usage["all"] > 0, (member, usage)
        assert now.value("mote_table_size", table=table) == usage["all"], member
        assert now.value("mote_table_most", table=table) >= usage["most"], member
    assert status["connections"]["used"] >= 1, status["connections"]
    # A body that does not fit behind its head takes a buffer.
    large = "x" * (status["limits"]["bodyBytes"] - 500)
    assert device.send_1_0(large).status == 200
    assert scrape(device).value("mote_table_most", table="body_buffers") >= 1
    assert status["build"]["target"] and status["build"]["profile"] in ("release", "debug"), status["build"]
    assert status["limits"]["tasksPerCaller"] > 0 and status["version"], status


def the_log_has_level_task_and_trace(device):
    begin = device.log()["next"]
    task = device.send_1_0("read temperature", traceparent=TRACEPARENT).json()["result"]["task"]["id"]
    log = device.log(begin)
    own = [line for line in log["lines"] if line.get("task") == task]
    assert [line["text"] for line in own] == ["submitted", "completed"], log
    assert all(line["trace"] == TRACE and line["level"] == "info" and line["n"] >= begin for line in own), log
    assert log["next"] == log["lines"][-1]["n"] + 1 and device.log(log["next"])["lines"] == [], log
    # A trace that is none, and one that is said twice, are as good as none.
    for wrong in [TRACEPARENT.upper(), f"{TRACEPARENT}\r\ntraceparent: {TRACEPARENT}", "00-" + "0" * 32 + "-1-01"]:
        begin = device.log()["next"]
        device.send_1_0("read temperature", traceparent=wrong)
        assert device.log(begin)["lines"] and all("trace" not in line for line in device.log(begin)["lines"]), wrong
    everything = json.dumps(device.log())
    assert TOKEN not in everything and (not OTHER_TOKEN or OTHER_TOKEN not in everything)
    for wrong in ["-1", "1.5", "x", "1" * 40]:
        assert device.get(f"/log?after={wrong}").status == 400, wrong
    assert device.log(2**64 - 1)["lines"] == []


def what_is_about_others_is_for_operators(device):
    begin = device.log()["next"]
    hers = device.send_1_0("read temperature").json()["result"]["task"]["id"]
    his = device.send_1_0("read temperature", token=OTHER_TOKEN).json()["result"]["task"]["id"]
    tasks = lambda token: {line.get("task") for line in device.log(begin, token)["lines"]}
    assert {hers, his} <= tasks(TOKEN)
    assert his in tasks(OTHER_TOKEN) and hers not in tasks(OTHER_TOKEN)


def who_may_read_may_look_and_nobody_else(device):
    for path in ["/metrics", "/log", "/status"]:
        assert device.get(path, OTHER_TOKEN).status == 200, path
        assert device.get(path, token="").status == 401, path
        head = device.ask("HEAD", path)
        assert head.status == 200 and head.body == b"", path
        assert device.ask("POST", path).status == 405, path


CASES = [
    everything_has_its_place, counts_are_exact, scrapes_under_load_are_whole, tables_have_high_water_marks,
    the_log_has_level_task_and_trace, what_is_about_others_is_for_operators, who_may_read_may_look_and_nobody_else,
]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    failed = []
    for case in CASES:
        if len(sys.argv) > 2 and not any(word in case.__name__ for word in sys.argv[2:]):
            continue
        begun = time.monotonic()
        try:
            case(Device(sys.argv[1]))
            print(f"ok {case.__name__} ({time.monotonic() - begun:.1f} s)", flush=True)
        except (AssertionError, KeyError, OSError, ValueError) as error:
            failed.append(case.__name__)
            print(f"FAILED {case.__name__}: {type(error).__name__}: {error}", flush=True)
    print(f"{len(failed)} of {len(CASES)} failed" if failed else "all is as it should be")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
