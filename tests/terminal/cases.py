#!/usr/bin/env python3
"""What the terminal makes of an agent on an official SDK: cases.py HOST_SIM URL VERSION

Exit: 0 all passed, 1 something did not.
"""

import json
import re
import signal
import subprocess
import sys
import time

PROGRAM, URL, VERSION = sys.argv[1:]
failed = 0


def run(*words, within=20):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=within, env={})
    return done.returncode, done.stdout, done.stderr


def case(name, passed, *told):
    global failed
    print(f"{'ok  ' if passed else 'FAIL'} {name}")
    if not passed:
        failed += 1
        print(*("     " + repr(one) for one in told), sep="\n")


def expect(name, words, code, out, err=""):
    done = run(*words)
    case(name, done[0] == code and re.fullmatch(out, done[1], re.S) and re.search(err, done[2], re.S), *done)
    return done


expect("card", ["card", URL], 0, rf"words 1\.0\.0\n.*> read temperature\n.*asked from here in A2A {VERSION}, and followed live\n")
expect("a card in JSON is the card", ["card", URL, "--json"], 0, r'\{[^\n]*"skills"[^\n]*\}\n')
expect("read", ["ask", URL, "read", "temperature"], 0, "temperature 21.5 °C\n", r"^completed \(task ")
expect("read, from an address that has its card at the top", ["ask", URL + "/any/where", "read"], 0, "temperature 21.5 °C\n")
done = run("ask", URL, "--json", "read")
case("read in JSON is one line with the reading", done[1].count("\n") == 1 and "21.5" in json.dumps(json.loads(done[1])), *done)
expect("a direct message, which does not drive the terminal", ["ask", URL, "hello"], 0, r"hello to you \\u\{1b\}\[2J\n", "^$")
expect("the same as a stream", ["watch", URL, "hello"], 0, r"hello to you \\u\{1b\}\[2J\n", "^$")
expect("watch", ["watch", URL, "watch", "it"], 0, "reading 0\nreading 1\nreading 2\n", "^completed")
done = run("watch", URL, "watch", "it", "--json")
lines = [json.loads(line) for line in done[1].splitlines()]
case("watch in JSON is an event in a line", done[0] == 0 and len(lines) >= 5 and "reading 2" in done[1], *done)
expect("what was watched, asked for in one piece", ["ask", URL, "watch"], 0, "reading 0\nreading 1\nreading 2\n")
expect("a failure", ["ask", URL, "fail"], 1, "", "failed: the sensor is broken")
expect("a failure, watched", ["watch", URL, "fail"], 1, "", "failed: the sensor is broken")

for verb in "ask", "watch":
    _, _, told = expect(f"a question to {verb}", [verb, URL, "calibrate"], 6, "", "input required: what should it be")
    task = re.search(r"--task (\S+)", told)
    task = task.group(1) if task else "?"
    expect(f"how it stands for {verb}", ["get", URL, task], 6, "", "input required")
    expect(f"its answer by {verb}", [verb, URL, "--task", task, "21"], 0, "you said 21\n", "completed")

code, _, told = run("ask", URL, "long", "--no-wait")
task = re.search(r"\(task (\S+)\)", told)
case("a long task is not waited for", code == 0 and task and re.match("submitted|working", told), code, told)
task = task.group(1) if task else "?"
expect("how it stands", ["get", URL, task], 0, "", "submitted|working")
if VERSION == "1.0":
    expect("it is listed", ["tasks", URL], 0, rf".*{task}  (submitted|working) .*")
else:
    expect("it cannot be listed", ["tasks", URL], 2, "", "nobody can ask for all tasks")
expect("it is canceled", ["cancel", URL, task], 0, "", "canceled|working")
expect("it was canceled", ["watch", URL, "--task", task], 1, "", "canceled")
# Versions and SDKs disagree on whether that is an error.
code, _, told = run("cancel", URL, task)
again = {0: "canceled", 4: r"host-sim: the agent says: .*\(-32002\)"}
case("it is canceled again, or cannot be", code in again and re.match(again[code], told), code, told)
expect("a task that is not there", ["get", URL, "nobody"], 4, "", r"\(-32001\)")

# Ctrl-C leaves the task, or ends it.
for words, state in ([], "submitted|working"), (["--cancel"], "canceled"):
    child = subprocess.Popen(
        [PROGRAM, "watch", URL, "long", "--json", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={}
    )
    first = child.stdout.readline()
    task = json.loads(first).get("task", json.loads(first))
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=20)
    left = state == "canceled" or f"cancel {URL} {task['id']}" in told
    case(f"Ctrl-C {words}: says what becomes of the task", child.returncode == 130 and left, child.returncode, told)
    code, _, told = run("get", URL, task["id"])
    case(f"Ctrl-C {words}: so it is", re.match(state, told), code, told)

sys.exit(1 if failed else 0)
