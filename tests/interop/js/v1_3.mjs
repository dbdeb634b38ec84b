// @a2a-js/sdk 1.3.0, which speaks 1.0.

import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Role, StreamResponse, TaskState } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import { A2AError } from '@a2a-js/sdk/errors';
import { fetching, main } from './cases.mjs';

/** The SDK's default, or with what it sends a token with. */
function factory(more = fetching) {
  if (!more) return new ClientFactory();
  const transports = [new JsonRpcTransportFactory(more)];
  return new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports }));
}

class Sdk {
  generation = '1.0';

  static async connect(base) {
    const sdk = new Sdk();
    sdk.base = base;
    sdk.client = await factory().createFromUrl(base);
    return sdk;
  }

  async card(path) {
    return card(await new DefaultAgentCardResolver().resolve(this.base, path));
  }

  async send(what, { wait = true, push, ...more } = {}) {
    const taskPushNotificationConfig = push && webhook(undefined, push);
    const configuration = wait ? undefined : { returnImmediately: true, taskPushNotificationConfig };
    const reply = await this.client.sendMessage({ message: newMessage(what, more), configuration });
    return 'messageId' in reply ? message(reply) : task(reply);
  }

  async *stream(what, more) {
    for await (const event of this.client.sendMessageStream({ message: newMessage(what, more) })) yield neutral(event);
  }

  async *resubscribe(id) {
    for await (const event of this.client.resubscribeTask({ id })) yield neutral(event);
  }

  async get(id, historyLength) {
    return task(await this.client.getTask({ id, historyLength }));
  }

  async cancel(id) {
    return task(await this.client.cancelTask({ id }));
  }

  async list({ status, ...filters }) {
    const state = status ? TaskState[`TASK_STATE_${status.toUpperCase()}`] : TaskState.TASK_STATE_UNSPECIFIED;
    const page = await this.client.listTasks({ status: state, ...filters });
    return { tasks: page.tasks.map(task), total: page.totalSize, next: page.nextPageToken };
  }

  async setPush(taskId, push) {
    return hook(await this.client.createTaskPushNotificationConfig(webhook(taskId, push)));
  }

  async getPush(taskId, id) {
    return hook(await this.client.getTaskPushNotificationConfig({ taskId, id }));
  }

  async listPush(taskId) {
    return (await this.client.listTaskPushNotificationConfig({ taskId })).configs.map(hook);
  }

  async deletePush(taskId, id) {
    await this.client.deleteTaskPushNotificationConfig({ taskId, id });
  }

  pushed(body) {
    return neutral(StreamResponse.fromJSON(JSON.parse(body)));
  }

  extendedCard() {
    // Without the capability the client gives back the card it has; its transport asks the server.
    return this.client.transport.getExtendedAgentCard({ tenant: '' }, { serviceParameters: { 'A2A-Version': '1.0' } });
  }

  async speaking03() {
    const old = await new DefaultAgentCardResolver().resolve(this.base);
    const jsonrpc = old.supportedInterfaces.find((i) => i.protocolBinding === 'JSONRPC');
    const sdk = new Sdk();
    sdk.client = await factory({ legacyCompat: { enabled: true }, ...fetching }).createFromAgentCard({
      ...old,
      supportedInterfaces: [{ ...jsonrpc, protocolVersion: '0.3' }],
    });
    return sdk;
  }

  code(error) {
    // An error inside a stream is a plain one with the typed one as its cause.
    const typed = error instanceof A2AError ? error : error.cause;
    return typed instanceof A2AError ? typed.envelopeCode : undefined;
  }
}

function webhook(taskId, { scheme, credentials, ...more }) {
  return { taskId, ...more, authentication: scheme && { scheme, credentials } };
}

const hook = ({ url, id, token, authentication }) => ({ url, id, token, ...authentication });

function newMessage(what, { task, context, refs } = {}) {
  let parts = what;
  if (typeof what === 'string') parts = [{ content: { $case: 'text', value: what } }];
  else if (what.data) parts = [{ content: { $case: 'data', value: what.data } }];
  else if (what.file)
    parts = [{ content: { $case: 'raw', value: what.file }, mediaType: what.media, filename: what.name }];
  const ids = { messageId: randomUUID(), taskId: task, contextId: context, referenceTaskIds: refs };
  return { role: Role.ROLE_USER, parts, ...ids };
}

function neutral({ payload: { $case, value } }) {
  const ids = { task: value.taskId, context: value.contextId };
  switch ($case) {
    case 'task':
      return task(value);
    case 'message':
      return message(value);
    case 'statusUpdate':
      return { is: 'status', ...ids, state: state(value.status), final: undefined };
    case 'artifactUpdate':
      return { is: 'chunk', ...ids, artifact: artifact(value.artifact), append: value.append, last: value.lastChunk };
  }
}

const state = (status) => TaskState[status.state].replace('TASK_STATE_', '').toLowerCase().replace('_', '-');

const task = (it) => ({
  is: 'task',
  id: it.id,
  context: it.contextId,
  state: state(it.status),
  message: it.status.message && message(it.status.message),
  artifacts: it.artifacts.map(artifact),
  history: it.history.map(message),
});

const artifact = (it) => ({ id: it.artifactId, name: it.name, parts: it.parts.map(part) });

function message(it) {
  const parts = it.parts.map(part);
  const text = parts.flatMap((p) => p.text ?? []).join(' ');
  const role = Role[it.role].replace('ROLE_', '').toLowerCase();
  return { is: 'message', role, parts, text, task: it.taskId, context: it.contextId };
}

function part({ content, mediaType, filename }) {
  if (content.$case === 'raw') return { file: content.value, media: mediaType, name: filename };
  return { [content.$case]: content.value };
}

const card = (it) => ({
  name: it.name,
  description: it.description,
  version: it.version,
  url: it.supportedInterfaces[0].url,
  streaming: it.capabilities.streaming,
  push: it.capabilities.pushNotifications,
  extended: it.capabilities.extendedAgentCard,
  inputs: it.defaultInputModes,
  outputs: it.defaultOutputModes,
  skills: it.skills,
});

// A script for a shut door builds on these, and has cases of its own.
export { Sdk, card };

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await import('./push_cases.mjs');
  await main(Sdk.connect);
}
