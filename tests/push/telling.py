"""What a webhook was told, put together again and compared with what the task says of itself."""

import json

from receiver import PATIENCE_SECONDS

ENDED = {"completed", "canceled", "failed", "rejected"}
# In which order states may come.
ORDER = ["submitted", "working", "input_required", "completed", "canceled", "failed", "rejected"]


def told(receiver, path, caller, until=ENDED, seconds=PATIENCE_SECONDS):
    """The requests to a path, up to one that tells of one of these states."""
    look = lambda it: any(caller.state_of(post.json()) in until for post in it.posts(path))
    receiver.wait(look, seconds, f"a notification to {path} of {sorted(until)}")
    return receiver.posts(path)


def distinct(posts):
    """Each event once: one that was tried again is the same, to the letter, and comes before any other."""
    bodies = []
    for post in posts:
        if not bodies or bodies[-1] != post.body:
            assert post.body not in bodies, f"out of order, or told again after others: {post}"
            bodies.append(post.body)
    return bodies


def fold(posts, caller):
    """The artifacts and the state that a receiver has in the end, as the dialect's own client would put them together."""
    bodies = [json.loads(body) for body in distinct(posts)]
    if caller.name != "1.0":
        return bodies[-1].get("artifacts", []), bodies[-1]["status"]
    artifacts, status = [], None
    for body in bodies:
        [(kind, it)] = body.items()
        if kind == "task":
            artifacts, status = list(it.get("artifacts", [])), it["status"]
        elif kind == "statusUpdate":
            status = it["status"]
        else:
            assert kind == "artifactUpdate", body
            artifact = it["artifact"]
            [known] = [at for at, old in enumerate(artifacts) if old["artifactId"] == artifact["artifactId"]] or [None]
            if not it.get("append"):
                assert known is None, f"{artifact['artifactId']} begins a second time: {body}"
                artifacts.append(dict(artifact))
            else:
                assert known is not None, f"a chunk without a first one: {body}"
                old = artifacts[known]
                artifacts[known] = {**old, "parts": old["parts"] + artifact["parts"]}
    return artifacts, status


def assert_complete(posts, caller, task):
    """Everything was told, in order and once, and is what the task says of itself. Status and artifacts, that is: how much
    of its history is told is the device's choice."""
    bodies = distinct(posts)
    assert all(caller.task_of(post.json()) == task for post in posts), "a notification of another task"
    wanted = caller.get_task(task)
    artifacts, status = fold(posts, caller)
    assert artifacts == wanted.get("artifacts", []), f"{artifacts} instead of {wanted.get('artifacts')}"
    assert status == wanted["status"], f"{status} instead of {wanted['status']}"
    states = [state for post in posts if (state := caller.state_of(post.json()))]
    # Who was asked and has answered begins again.
    last_run = states[len(states) - states[::-1].index("input_required"):] if "input_required" in states else states
    assert [ORDER.index(it) for it in last_run] == sorted(ORDER.index(it) for it in last_run), states
    assert sum(state in ENDED for state in states) - (len(posts) - len(bodies)) <= 1, f"the end was told twice: {states}"
    if caller.name != "1.0":
        # Each tells of the task as it was then: it only grows.
        sizes = [sum(len(it["parts"]) for it in post.json().get("artifacts", [])) for post in posts]
        assert sizes == sorted(sizes), sizes
    return wanted


def readings(task):
    return [part["data"] for artifact in task.get("artifacts", []) for part in artifact["parts"] if "data" in part]
