"""The types of a2a-sdk 0.2 and 0.3 are the same pydantic models: both ways between them and the neutral ones."""

import base64
from uuid import uuid4

import cases
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    TextPart,
)


def new_message(what, task=None, context=None, refs=()):
    match what:
        case str():
            parts = [Part(root=TextPart(text=what))]
        case dict():
            parts = [Part(root=DataPart(data=what))]
        case cases.Part():
            data = base64.b64encode(what.file).decode()
            parts = [Part(root=FilePart(file=FileWithBytes(bytes=data, mime_type=what.media, name=what.name)))]
        case _:
            parts = what
    return Message(
        role=Role.user,
        parts=parts,
        message_id=str(uuid4()),
        task_id=task,
        context_id=context,
        reference_task_ids=list(refs) or None,
    )


def neutral(it):
    match it:
        case Task():
            return task(it)
        case Message():
            return message(it)
        case TaskStatusUpdateEvent():
            return cases.Status(it.task_id, it.context_id, it.status.state.value, it.final)
        case TaskArtifactUpdateEvent():
            return cases.Chunk(it.task_id, it.context_id, artifact(it.artifact), bool(it.append), bool(it.last_chunk))
    raise AssertionError(f"an unknown event: {it!r}")


def task(it):
    return cases.Task(
        it.id,
        it.context_id,
        it.status.state.value,
        message(it.status.message) if it.status.message else None,
        [artifact(a) for a in it.artifacts or []],
        [message(m) for m in it.history or []],
    )


def artifact(it):
    return cases.Artifact(it.artifact_id, it.name or "", [part(p.root) for p in it.parts])


def message(it):
    return cases.Message(it.role.value, [part(p.root) for p in it.parts], it.task_id or "", it.context_id or "")


def part(it):
    match it:
        case TextPart():
            return cases.Part(text=it.text)
        case DataPart():
            return cases.Part(data=it.data)
        case FilePart(file=FileWithBytes() as file):
            return cases.Part(file=base64.b64decode(file.bytes), media=file.mime_type or "", name=file.name or "")
    raise AssertionError(f"an unexpected part: {it!r}")


def card(it):
    return cases.Card(
        it.name,
        it.description,
        it.version,
        it.url,
        bool(it.capabilities.streaming),
        bool(it.capabilities.push_notifications),
        bool(it.supports_authenticated_extended_card),
        it.default_input_modes,
        it.default_output_modes,
        [(s.id, s.name, s.description, s.tags, s.examples or []) for s in it.skills],
    )
