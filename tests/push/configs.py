"""The calls that set, show and delete webhooks, in every dialect."""

import dialects
from device import Rules
from dialects import Refusal, Webhook
from world import Elsewhere

# It works until somebody ends it.
LONG = "alert when temperature above 1000"


def full(world, url, **more):
    """A webhook with everything that there is."""
    return Webhook(url, token=world.secret("token"), scheme="Bearer", credentials=world.secret("credentials"), **more)


def the_card_promises_it(world):
    device = world.device()
    for path in ["/.well-known/agent-card.json", "/.well-known/agent.json"]:
        card = device.honest.ask(device.target.get(path, token=""), method="GET").json()
        assert card["capabilities"]["pushNotifications"] is True, card["capabilities"]


def every_dialect_sets_and_reads_back(world):
    for caller in world.device().callers():
        task, url = caller.send(LONG), world.receiver().url(f"/{caller.name}")
        webhook = full(world, url, id=None if caller.name == "0.1" else "mine")
        for said in [caller.set(task, webhook), caller.get(task, webhook.id)]:
            config = caller.config(said)
            assert config["url"] == url, said
            assert said.get("taskId", said.get("id")) == task if caller.name != "1.0" else said["taskId"] == task, said
            assert webhook.id is None or config["id"] == webhook.id, said
            scheme = config["authentication"]
            assert scheme.get("scheme") == "Bearer" or scheme.get("schemes") == ["Bearer"], said
        caller.cancel(task)


def lists_and_deletes(world):
    for caller in world.device().callers():
        if caller.name == "0.1":
            continue
        task, url = caller.send(LONG), world.receiver().url()
        assert caller.list(task) == [], "a task without any"
        for id in ["one", "two", "three"]:
            caller.set(task, Webhook(f"{url}/{id}", id=id))
        assert [(caller.config(it)["id"], caller.config(it)["url"]) for it in caller.list(task)] == [
            (id, f"{url}/{id}") for id in ["one", "two", "three"]], caller.list(task)
        assert caller.delete(task, "two") is None
        assert [caller.config(it)["id"] for it in caller.list(task)] == ["one", "three"]
        # Deleting what is not there is no error: it is not there afterwards.
        assert caller.delete(task, "two") is None
        caller.cancel(task)


def an_id_is_made_where_none_is_given(world):
    for caller in world.device().callers():
        task = caller.send(LONG)
        id = caller.config(caller.set(task, Webhook("https://a.example/x"))).get("id")
        if caller.name == "1.0":
            assert id and caller.get(task, id)["url"] == "https://a.example/x", id
        else:
            assert caller.config(caller.get(task))["url"] == "https://a.example/x"
        caller.cancel(task)


def the_same_id_again_replaces(world):
    for caller in world.device().callers():
        task, id = caller.send(LONG), None if caller.name == "0.1" else "mine"
        for path in ["/before", "/after"]:
            caller.set(task, Webhook(f"https://a.example{path}", id=id))
        assert caller.config(caller.get(task, id))["url"] == "https://a.example/after"
        assert caller.name == "0.1" or len(caller.list(task)) == 1
        caller.cancel(task)


def one_dialect_sees_what_another_has_set(world):
    new, middle, old = world.device().callers()
    task = new.send(LONG)
    new.set(task, Webhook("https://a.example/new", id="new"))
    middle.set(task, Webhook("https://a.example/middle", id="middle"))
    old.set(task, Webhook("https://a.example/old"))
    urls = [f"https://a.example/{name}" for name in ["new", "middle", "old"]]
    assert sorted(it["url"] for it in new.list(task)) == sorted(urls), new.list(task)
    assert sorted(it["pushNotificationConfig"]["url"] for it in middle.list(task)) == sorted(urls)
    assert middle.get(task, "new")["pushNotificationConfig"]["url"] == urls[0]
    new.delete(task, "middle")
    assert len(middle.list(task)) == 2


def secrets_are_not_read_back(world):
    """Whoever reads a webhook back, its owner or a thief of a token, learns nothing to answer it with."""
    for caller in world.device().callers():
        task, id = caller.send(LONG), None if caller.name == "0.1" else "mine"
        webhook = full(world, "https://a.example/x", id=id)
        caller.set(task, webhook)
        calls = {
            "1.0": [("GetTaskPushNotificationConfig", {"taskId": task, "id": id}),
                    ("ListTaskPushNotificationConfigs", {"taskId": task}), ("GetTask", {"id": task}),
                    ("ListTasks", {})],
            "0.3": [("tasks/pushNotificationConfig/get", {"id": task}),
                    ("tasks/pushNotificationConfig/list", {"id": task}), ("tasks/get", {"id": task})],
            "0.1": [("tasks/pushNotification/get", {"id": task}), ("tasks/get", {"id": task, "historyLength": 10})],
        }[caller.name]
        answers = [caller.ask(*it) for it in calls]
        answers.append(caller.honest.ask(caller.target.get("/status"), method="GET"))
        for answer in answers:
            for secret in [webhook.token, webhook.credentials]:
                assert secret.encode() not in answer.body, answer
        caller.cancel(task)


def somebody_elses_task_is_not_there(world):
    """To somebody else a task with a webhook looks like one that is not there, whatever is asked."""
    device = world.device()
    for caller, other in zip(device.callers(), device.others(), strict=True):
        task, id = caller.send(LONG), None if caller.name == "0.1" else "mine"
        caller.set(task, Webhook("https://a.example/mine", id=id))
        named = lambda task: {
            "1.0": [("CreateTaskPushNotificationConfig", {"taskId": task, "url": "https://a.example/x"}),
                    ("GetTaskPushNotificationConfig", {"taskId": task, "id": id}),
                    ("ListTaskPushNotificationConfigs", {"taskId": task}),
                    ("DeleteTaskPushNotificationConfig", {"taskId": task, "id": id})],
            "0.3": [("tasks/pushNotificationConfig/set",
                     {"taskId": task, "pushNotificationConfig": {"url": "https://a.example/x"}}),
                    ("tasks/pushNotificationConfig/get", {"id": task}),
                    ("tasks/pushNotificationConfig/list", {"id": task}),
                    ("tasks/pushNotificationConfig/delete", {"id": task, "pushNotificationConfigId": id})],
            "0.1": [("tasks/pushNotification/set",
                     {"id": task, "pushNotificationConfig": {"url": "https://a.example/x"}}),
                    ("tasks/pushNotification/get", {"id": task})],
        }[caller.name]
        for foreign, missing in zip(named(task), named("0" * len(task)), strict=True):
            answers = [other.ask(*it) for it in [foreign, missing]]
            assert [it.code() for it in answers] == [-32001, -32001], answers
            assert answers[0].body == answers[1].body, answers
        assert caller.config(caller.get(task, id))["url"] == "https://a.example/mine"
        caller.cancel(task)


def unknown_ones_are_errors(world):
    for caller in world.device().callers():
        task = caller.send(LONG)
        method, params = {
            "1.0": ("GetTaskPushNotificationConfig", {"taskId": task, "id": "none"}),
            "0.3": ("tasks/pushNotificationConfig/get", {"id": task, "pushNotificationConfigId": "none"}),
            "0.1": ("tasks/pushNotification/get", {"id": task}),
        }[caller.name]
        caller.is_refused(method, params, -32001)
        caller.cancel(task)


def what_is_wrong_is_named(world):
    """-32602, and which member it is, as the caller's dialect calls it."""
    long_secret = 2000 * "x"
    wrong = [
        ("url", {"url": None}), ("url", {"url": ""}), ("url", {"url": "a"}), ("url", {"url": 7}),
        ("url", {"url": "https://a.example/" + 2000 * "x"}),
        ("token", {"token": "a\r\nX-Evil: 1"}), ("token", {"token": "a\nb"}), ("token", {"token": "\u00e4\u2028"}),
        ("token", {"token": long_secret}), ("token", {"token": 7}), ("token", {"token": "a\u0000b"}),
        ("credentials", {"authentication": {"scheme": "Bearer", "schemes": ["Bearer"], "credentials": "a\r\nX: 1"}}),
        ("credentials", {"authentication": {"scheme": "Bearer", "schemes": ["Bearer"], "credentials": long_secret}}),
        ("scheme", {"authentication": {"scheme": "Bea rer", "schemes": ["Bea rer"], "credentials": "x"}}),
        ("scheme", {"authentication": {"scheme": "a\r\nX: 1", "schemes": ["a\r\nX: 1"], "credentials": "x"}}),
        ("id", {"id": 500 * "x"}), ("id", {"id": 7}),
    ]
    for caller in world.device().callers():
        task = caller.send(LONG)
        for field, change in wrong:
            if field == "id" and caller.name == "0.1":
                continue
            method, params = caller.set_call(task, Webhook("https://a.example/x"))
            config = params if caller.name == "1.0" else params["pushNotificationConfig"]
            config.update(change)
            if config["url"] is None:
                del config["url"]
            if "id" in change and caller.name == "1.0":
                config["taskId"] = task
            error = caller.is_refused(method, params, -32602)
            assert field in str(error.error), f"{change}: {error.error} does not name {field}"
        caller.cancel(task)


def a_wrong_one_in_a_send_sends_nothing(world):
    device = world.device()
    count = lambda: device.honest.call("ListTasks", {})["totalSize"]
    before = count()
    for caller in device.callers():
        for url in ["ftp://a.example/", "http://169.254.169.254/latest"]:
            try:
                caller.send("read temperature", Webhook(url), wait=True)
            except Refusal as refusal:
                assert refusal.code == -32602 and "url" in str(refusal.error), refusal
            else:
                raise AssertionError(f"{caller.name} took {url}")
    assert count() == before, "a task was made"


def full_is_an_answer(world):
    """There is a limit; beyond it there is a clear error, and what is there stays there."""
    if world.is_board:
        device = world.device()
    else:
        device = world.device(Rules(world.usual.allow, preset="pico"))
    caller = device.v1_0()
    task = caller.send(LONG)
    caller.patience, made = 0, []
    refusal = None
    while refusal is None and len(made) < 100:
        try:
            caller.set(task, Webhook(f"https://a.example/{len(made)}", id=f"c{len(made)}"))
            made.append(f"c{len(made)}")
        except Refusal as found:
            refusal = found
    assert len(made) >= 2 and refusal, f"{len(made)} were taken"
    # Busy: the same in every dialect, and no blame.
    assert refusal.code in (-32603, -32000, -32004) and "notif" in refusal.message + str(refusal.error), refusal.error
    assert [it["id"] for it in caller.list(task)] == made
    # In the middle of a send it is the same, and nothing is begun.
    tasks = device.honest.call("ListTasks", {})["totalSize"]
    caller.is_refused("SendMessage", caller.params("read temperature", Webhook("https://a.example/more")), refusal.code)
    assert device.honest.call("ListTasks", {})["totalSize"] == tasks
    # Somebody else still gets one, whoever fills the table.
    other = dialects.V1_0(device.stranger)
    others_task = other.send(LONG)
    other.set(others_task, Webhook("https://a.example/other", id="other"))
    # One goes, one comes.
    other.delete(others_task, "other")
    caller.delete(task, made[0])
    caller.set(task, Webhook("https://a.example/again", id="again"))


def a_finished_task_makes_room(world):
    """Webhooks of tasks that have ended, and were told so, are in nobody's way."""
    if not world.is_board:
        device = world.device(Rules(world.usual.allow, preset="pico"))
    else:
        device = world.device()
    receiver, caller = world.receiver(), device.v1_0()
    all_of_it = device.status()["all"]
    for number in range(all_of_it + 3):
        caller.send("read temperature", Webhook(receiver.url(f"/{number}")), wait=True)
        receiver.wait(lambda it: any(caller.state_of(post.json()) == "completed" for post in it.posts(f"/{number}")))


def no_other_method_is_known(world):
    caller = world.device().v1_0()
    task = caller.send(LONG)
    for method in ["CreateTaskPushNotification", "SetTaskPushNotificationConfig", "tasks/pushNotification/list",
                   "tasks/pushNotification/delete", "tasks/pushNotificationConfig/create"]:
        caller.is_refused(method, {"id": task, "taskId": task}, -32601)


def a_device_can_be_without(world):
    """Where notifications are off the card says so, and each call gets that error."""
    if world.is_board:
        raise Elsewhere("the board has them")
    device = world.device(Rules(["off"]))
    card = device.honest.ask(device.target.get("/.well-known/agent-card.json", token=""), method="GET").json()
    assert not card["capabilities"].get("pushNotifications"), card["capabilities"]
    for caller in device.callers():
        task = caller.send(LONG)
        caller.is_refused(*caller.set_call(task, Webhook("https://a.example/x")), -32003)
        caller.cancel(task)


CASES = [
    the_card_promises_it, every_dialect_sets_and_reads_back, lists_and_deletes, an_id_is_made_where_none_is_given,
    the_same_id_again_replaces, one_dialect_sees_what_another_has_set, secrets_are_not_read_back,
    somebody_elses_task_is_not_there, unknown_ones_are_errors, what_is_wrong_is_named,
    a_wrong_one_in_a_send_sends_nothing, full_is_an_answer, a_finished_task_makes_room, no_other_method_is_known,
    a_device_can_be_without,
]
