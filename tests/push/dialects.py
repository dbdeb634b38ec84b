"""The same calls in three dialects: how a webhook is set, read back, listed and deleted, and what a notification looks
like. Everything goes as plain JSON, so that what is on the wire is what is compared."""

import json
import uuid

from client import PATIENCE_SECONDS, call


class Refusal(AssertionError):
    """An error that the device has answered with."""

    def __init__(self, method, error):
        super().__init__(f"{method}: {error}")
        self.code, self.message, self.error = error["code"], error.get("message", ""), error


class Webhook:
    """What a client wants: where to, and with what."""

    def __init__(self, url, id=None, token=None, scheme=None, credentials=None):
        self.url, self.id, self.token, self.scheme, self.credentials = url, id, token, scheme, credentials

    def flat(self):
        """As 1.0 writes it."""
        said = {"url": self.url, "id": self.id, "token": self.token}
        if self.scheme:
            said["authentication"] = {"scheme": self.scheme, "credentials": self.credentials}
        return {name: value for name, value in said.items() if value is not None}

    def nested(self):
        """As 0.3 and 0.1 write it."""
        said = self.flat()
        if self.scheme:
            said["authentication"] = {"schemes": [self.scheme], "credentials": self.credentials}
        return said


class Caller:
    """One principal that speaks one dialect."""

    def __init__(self, honest, fields=()):
        self.honest, self.target, self.fields = honest, honest.target, list(fields)
        # How long it comes back when it is told to.
        self.patience = PATIENCE_SECONDS

    def ask(self, method, params):
        """The whole answer, as bytes and as JSON."""
        request = self.target.post(call(method, params), token=self.honest.token, fields=self.fields)
        answer = self.honest.ask(request, self.patience)
        assert answer.status == 200, f"{method}: {answer}"
        return answer

    def call(self, method, params):
        document = self.ask(method, params).json()
        if "error" in document:
            raise Refusal(method, document["error"])
        return document["result"]

    def follow(self, method, params):
        """Begins a stream; its connection, behind the head."""
        connection = self.target.connect(timeout=PATIENCE_SECONDS)
        connection.send(self.target.post(call(method, params), token=self.honest.token, fields=self.fields))
        head = connection.answer_head()
        assert head.status == 200 and head.field("content-type") == "text/event-stream", head
        return connection

    def is_refused(self, method, params, *codes):
        """The error, which must be one of these."""
        try:
            found = self.call(method, params)
        except Refusal as refusal:
            assert refusal.code in codes, refusal
            return refusal
        raise AssertionError(f"{method} {params}: {found} instead of {codes}")


class V1_0(Caller):
    name, content_type = "1.0", "application/a2a+json"

    def __init__(self, honest):
        super().__init__(honest, ["A2A-Version: 1.0"])

    def params(self, text, webhook=None, wait=False):
        configuration = {"returnImmediately": not wait}
        if webhook:
            configuration["taskPushNotificationConfig"] = webhook.flat()
        message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"text": text}]}
        return {"message": message, "configuration": configuration}

    def send(self, text, webhook=None, wait=False):
        return self.call("SendMessage", self.params(text, webhook, wait))["task"]["id"]

    def stream(self, text, webhook=None):
        return self.follow("SendStreamingMessage", self.params(text, webhook))

    def get_task(self, task):
        return self.call("GetTask", {"id": task})

    def cancel(self, task):
        return self.call("CancelTask", {"id": task})

    def set_call(self, task, webhook):
        return "CreateTaskPushNotificationConfig", {"taskId": task, **webhook.flat()}

    def set(self, task, webhook):
        return self.call(*self.set_call(task, webhook))

    def get(self, task, id):
        return self.call("GetTaskPushNotificationConfig", {"taskId": task, "id": id})

    def list(self, task):
        return self.call("ListTaskPushNotificationConfigs", {"taskId": task}).get("configs", [])

    def delete(self, task, id):
        return self.call("DeleteTaskPushNotificationConfig", {"taskId": task, "id": id})

    @staticmethod
    def config(said):
        """The configuration in an answer."""
        return said

    @staticmethod
    def task_of(body):
        [(kind, it)] = body.items()
        return it["id"] if kind == "task" else it["taskId"]

    @staticmethod
    def state_of(body):
        """The state that a notification tells, if it does."""
        [(_, it)] = body.items()
        return it["status"]["state"].removeprefix("TASK_STATE_").lower() if "status" in it else None


class V0_3(Caller):
    name, content_type = "0.3", "application/json"

    def params(self, text, webhook=None, wait=False):
        configuration = {"blocking": wait}
        if webhook:
            configuration["pushNotificationConfig"] = webhook.nested()
        parts = [{"kind": "text", "text": text}]
        message = {"kind": "message", "messageId": str(uuid.uuid4()), "role": "user", "parts": parts}
        return {"message": message, "configuration": configuration}

    def send(self, text, webhook=None, wait=False):
        return self.call("message/send", self.params(text, webhook, wait))["id"]

    def stream(self, text, webhook=None):
        return self.follow("message/stream", self.params(text, webhook))

    def get_task(self, task):
        return self.call("tasks/get", {"id": task})

    def cancel(self, task):
        return self.call("tasks/cancel", {"id": task})

    def set_call(self, task, webhook):
        return "tasks/pushNotificationConfig/set", {"taskId": task, "pushNotificationConfig": webhook.nested()}

    def set(self, task, webhook):
        return self.call(*self.set_call(task, webhook))

    def get(self, task, id=None):
        params = {"id": task} if id is None else {"id": task, "pushNotificationConfigId": id}
        return self.call("tasks/pushNotificationConfig/get", params)

    def list(self, task):
        return self.call("tasks/pushNotificationConfig/list", {"id": task})

    def delete(self, task, id):
        return self.call("tasks/pushNotificationConfig/delete", {"id": task, "pushNotificationConfigId": id})

    @staticmethod
    def config(said):
        return said["pushNotificationConfig"]

    @staticmethod
    def task_of(body):
        assert body["kind"] == "task", body
        return body["id"]

    @staticmethod
    def state_of(body):
        return body["status"]["state"].replace("-", "_")


class V0_1(Caller):
    name, content_type = "0.1", "application/json"

    def params(self, text, webhook=None):
        params = {"id": str(uuid.uuid4()), "message": {"role": "user", "parts": [{"type": "text", "text": text}]}}
        if webhook:
            params["pushNotification"] = webhook.nested()
        return params

    def send(self, text, webhook=None, wait=False):
        params = self.params(text, webhook)
        if wait:
            return self.call("tasks/send", params)["id"]
        # There is no other way not to wait: a stream that is left at once. An error comes as its only event.
        connection = self.target.connect(timeout=PATIENCE_SECONDS)
        try:
            request = self.target.post(call("tasks/sendSubscribe", params), token=self.honest.token, fields=self.fields)
            connection.send(request)
            head = connection.answer_head()
            assert head.status == 200, head
            for chunk in connection.chunks():
                if b"data: " in chunk:
                    document = json.loads(chunk[chunk.index(b"data: ") + 6:].split(b"\n")[0])
                    if "error" in document:
                        raise Refusal("tasks/sendSubscribe", document["error"])
                    break
        finally:
            connection.close()
        return params["id"]

    def stream(self, text, webhook=None):
        return self.follow("tasks/sendSubscribe", self.params(text, webhook))

    def get_task(self, task):
        return self.call("tasks/get", {"id": task})

    def cancel(self, task):
        return self.call("tasks/cancel", {"id": task})

    def set_call(self, task, webhook):
        return "tasks/pushNotification/set", {"id": task, "pushNotificationConfig": webhook.nested()}

    def set(self, task, webhook):
        return self.call(*self.set_call(task, webhook))

    def get(self, task, id=None):
        return self.call("tasks/pushNotification/get", {"id": task})

    @staticmethod
    def config(said):
        return said["pushNotificationConfig"]

    @staticmethod
    def task_of(body):
        return body["id"]

    @staticmethod
    def state_of(body):
        return body["status"]["state"].replace("-", "_")


ALL = [V1_0, V0_3, V0_1]
